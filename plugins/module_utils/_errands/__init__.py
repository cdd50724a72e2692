# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Errands: Jobs that run when something happens, and whose output can become Secrets.

Public modules: `reconciler` (one errand, or all of a cluster once), `errand_engine` (all of a cluster, for
as long as it runs), `errand_definition` (the custom resource) and `authoring` (for authors). One pure
function decides, `next_steps`. `errand_reader` reads its input, and `step_execution` executes its decisions.
"""
