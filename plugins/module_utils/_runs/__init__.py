# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs of every sort: their records in the cluster, their lease, their cancellation and their end.

`recorder` begins and ends runs, `lease` holds the cluster's lease, `records` has one file per kind of record.

Public modules: `active_run`, `cancel_request`, `cancellation`, `cluster_result`, `cluster_state`,
`component_state`, `durations`, `hop_lines`, `hop_progress`, `interrupted_run`,
`lease`, `open_run`, `outcomes`, `recorder`, `records`, `run_failures`,
`wait_progress`.
"""
