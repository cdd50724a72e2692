# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From a definition to a Kubernetes Job: the objects that it refers to, how it is built, and how it ended.

Only `pod_logs` reads; `version_writer` and `version_pruning` read and write. All else is pure.

Public modules: `configuration`, `job_outcome`, `job_template`, `pod_logs`, `pod_references`, `run_history`,
`secret_users`, `secret_validation`, `version_list`, `version_pruning`, `version_retention`, `version_writer`,
`versioned_secrets`.
"""
