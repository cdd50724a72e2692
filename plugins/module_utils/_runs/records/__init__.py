# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The custom resources that store records: one file per kind.

Public modules: `approvals`, `cluster_hold`, `definitions`, `hold_records`, `installation`, `inventories`,
`journal_records`, `modules`, `record_rights`, `record_schema`, `record_writer`, `run_record`, `runs`,
`undone_migrations`.
"""
