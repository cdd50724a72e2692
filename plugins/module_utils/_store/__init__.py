# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The job store: reads, writes and imports job definitions and the Kubernetes objects that they describe.

`snapshot` reads, `job_list` lists the jobs, `job_change` changes one job, and `job_import` creates
definitions of existing jobs.

Public modules: `changes`, `counters`, `counting`, `job_change`, `job_import`, `job_list`, `job_logs`,
`job_state`, `job_trial`, `pod_refusals`, `restrictions`, `scheduled_runs`, `snapshot`, `store_kinds`,
`switches`, `unknown_jobs`.
"""
