# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Applies objects in their order with server-side apply, and reports the changes.

Public modules: `apply_object`, `apply_rights`, `apply_set`, `change`, `crd_narrowing`, `diff`, `order`,
`refusals`.
"""
