# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A rollout: one release over the rings of a fleet, decided from what the clusters themselves say.

``ring_options`` reads the variables, ``facts`` the results of tasks, and ``gate`` decides. All are pure, and
none remembers anything between two calls. ``model`` has what they exchange.
``fleet_variables`` refuses variables of hosts, ``ring_check`` asks the user's check, and ``ring_turn`` stops
a ring while it is being deployed.
``passed_gate`` says whether a cluster may begin by a gate that another job has decided.
``ring_views`` has the texts about it, ``rollout_table`` lays them out, ``next_call`` says when to
run it again, and ``rollout_result`` reads it again.

Public modules: `facts`, `fleet_variables`, `gate`, `model`, `next_call`, `passed_gate`,
`ring_check`, `ring_options`, `ring_turn`, `ring_views`, `rollout_result`, `rollout_table`.
"""
