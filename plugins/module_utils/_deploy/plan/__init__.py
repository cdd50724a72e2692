# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a deployment would do, and why; computed without a write.

Public modules: `binding`, `plan_diff`, `planned_hops`, `planner`, `release_plan`, `rollout_facts`, `summary`.
"""
