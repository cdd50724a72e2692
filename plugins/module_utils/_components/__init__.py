# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The lifecycle of one component, for a release or for a module.

`rehearsed_work` computes what would change, `component_run` does it, and `component_removal` ends it.

Public modules: `adoption_losses`, `component_action`, `component_crds`, `component_health`,
`component_inventory`, `component_plan`, `component_removal`, `component_run`, `desired_component`,
`migrations`, `needs`, `provided_kinds`, `rehearsed_changes`, `rehearsed_work`, `removal_gate`, `selection`,
`work_context`, `work_options`.
"""
