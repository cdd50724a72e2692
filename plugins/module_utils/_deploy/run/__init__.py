# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A deployment's tasks: begin, deploy components, prune, end.

Public modules: `deployment`, `part_of_run`, `plan_observations`, `prune_run`, `run_end`, `run_start`.
"""
