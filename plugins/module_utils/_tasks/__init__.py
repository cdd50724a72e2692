# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One file per Ansible module: options in, result out. Capabilities meet only here.

`shared` has what several files use. `complete_deletion` and `errand_watch` are parts of one module each.

Public modules: `DEFINITION` of each, for the module and its action plugin.
"""
