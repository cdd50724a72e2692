# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The last lines of a playbook: what became of each cluster, and what to do next.

`playbook_summary` sorts the clusters by their ends, `closing_lines` and `cluster_table` write them as text.

Public modules: `closing_lines`, `cluster_table`, `playbook_summary`.
"""
