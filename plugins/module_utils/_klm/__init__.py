# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A module of Kyma's lifecycle manager (KLM) as plain values: its entry, its state, and the next step.

`kyma_resource` reads the resource in which KLM gets its orders, and `kyma_writing` writes its entries.

Public modules: `klm_entry`, `klm_marks`, `klm_module`, `klm_rights`, `klm_state`, `klm_steps`,
`kyma_resource`, `kyma_writing`.
"""
