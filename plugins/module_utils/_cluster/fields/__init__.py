# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Fields and their managers (KEP-555): sets of fields, merging, patches.

Public modules: `apply_merge`, `field_owners`, `field_sets`, `json_patch`, `list_types`, `managed_fields`,
`written_by`.
"""
