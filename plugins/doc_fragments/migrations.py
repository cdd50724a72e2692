# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Documentation of the options that say where migrations are found."""

from __future__ import annotations


class ModuleDocFragment:
    """The fragment C(kyma.lifecycle.migrations)."""

    DOCUMENTATION = r"""
options:
  migration_paths:
    description:
      - Folders with migrations of one's own.
      - C(kyma_migrations) beside the playbook and beside the inventory are searched in any case, as are the
        migrations of this collection.
      - All files in them and in folders below are searched, but for those whose name, or a folder's
        in between, begins with an underscore.
      - Relative paths are looked for beside the playbook, beside the inventory, and in the directory where
        C(ansible-playbook) was started, in this order.
    type: list
    elements: path
    default: []
  migration_collections:
    description:
      - Collections with migrations of their own in C(plugins/module_utils/kyma_migrations), each as
        C(namespace.name). One that is not installed, or has none, is refused.
    type: list
    elements: str
    default: []
"""

    RUNNING = r"""
options:
  migration_variables:
    description:
      - Variables for migrations. Each documents those that it knows.
    type: dict
    default: {}
  skip_migrations:
    description:
      - Migrations to leave out, each as C(component/name).
    type: list
    elements: str
    default: []
"""
