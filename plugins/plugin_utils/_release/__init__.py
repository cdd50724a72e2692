# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A release's files on the controller: finds, fetches, reads and renders them.

Public modules: `cache`, `catalog`, `component_list`, `contained_files`, `download`, `fingerprint`, `loader`,
`programs`, `source`, `version`, `yaml_files`.
"""
