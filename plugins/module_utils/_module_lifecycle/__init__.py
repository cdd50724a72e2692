# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The life of a module on a cluster: installed, upgraded, adopted, given up and deleted.

Public modules: `module_run` (manage modules) and `module_report` (what is there), for the tasks. What a
catalog offers is in `catalog/`; `plugin_utils/_modules` reads catalogs and manifests from files and URLs.
"""
