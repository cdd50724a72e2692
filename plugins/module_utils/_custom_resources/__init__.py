# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Builds the definitions and roles of our own custom resources, with any content, and installs them.

Public modules: `cluster_role`, `conditions`, `events`, `installed_kinds`, `resource_kind`,
`storage_version`.
"""
