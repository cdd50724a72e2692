# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One run at a time: the Lease, its renewal, its takeover, and the fence that the API server enforces.

Public modules: `acquisition`, `fence_token`, `held_lease`, `lease`, `lease_rights`, `lease_session`,
`named_lease`, `own_lease`.
"""
