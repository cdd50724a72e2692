# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The model of a module catalog, without reading anything: versions, channels, restrictions, manifests.

Public modules: `catalog`, `documents`, `image_rewriting`, `manifest_objects`, `module_version`,
`semantic_version`.
"""
