# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The lifecycle of a module on a cluster: install, upgrade, adopt, give up and delete.

`_klm_facts/` and `_klm_work/` are for modules that Kyma's lifecycle manager (KLM) manages.
`plugin_utils/_modules` reads catalogs and manifests from files and URLs.

Public modules: `module_report`, `module_request`, `module_run`.
"""
