# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A release as data: its model, its YAML documents, and the bundle that is sent to another host.

The code that reads a release from files is in `plugin_utils/_release`.

Public modules: `bundle`, `lazy_objects`, `limits`, `manifests`, `model`, `release_error`, `yaml_documents`.
"""
