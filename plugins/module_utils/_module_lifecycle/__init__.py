# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The lifecycle of a module on a cluster: install, upgrade, adopt, give up and delete.

Public modules: `module_run` (manage modules) and `module_report` (report modules), for the tasks. `catalog/`
has the model of a catalog; `plugin_utils/_modules` reads catalogs and manifests from files and URLs.
"""
