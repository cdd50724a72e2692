# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Errands: Jobs that run when something happens, and whose output can become Secrets.

From outside: `reconciler` (one errand, or all of a cluster once), `engine` (all of a cluster, for as long as
it runs), `errand_definition` (the custom resource) and `authoring` (what authors do). One pure function
decides, `next_steps`. `errand_reader` reads what it decides from, and `step_execution` does what it decides.
"""
