# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The custom resources of our own, whatever they hold: building their definitions and roles, installing them.

From outside: `crd_builder`, `cluster_role`, `installed_kinds`, and `conditions` for what a status says.
"""
