# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The objects of an owner as they were last written, and the changes since.

Public modules: `finished_job_entries`, `hand_over`, `inventory`, `inventory_entry`, `live_objects`,
`namespace_creators`, `owner_kinds`.
"""
