# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From a definition to a Kubernetes Job: the objects that it refers to, how it is built, and how it ended.

Public modules: `pod_references`, `configuration`, `job_template`, `job_outcome`, `run_history` (all pure),
`versioned_secrets` (pure) and `version_writer`, which alone reads and writes.
"""
