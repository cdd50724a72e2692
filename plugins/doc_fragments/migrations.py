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
      - Further folders with migrations.
      - The folders C(kyma_migrations) of the playbook and of the inventory are always searched, and so are
        the migrations of this collection.
      - All files in them and in folders below are searched, except files and folders whose name begins with
        an underscore.
      - Relative paths are searched in the folder of the playbook, in that of the inventory, and in the
        directory where C(ansible-playbook) was started, in this order.
    type: list
    elements: path
    default: []
  migration_collections:
    description:
      - Collections with migrations in C(plugins/module_utils/kyma_migrations), each as C(namespace.name). A
        collection that is not installed, or has none, is refused.
    type: list
    elements: str
    default: []
"""

    RUNNING = r"""
options:
  migration_variables:
    description:
      - Variables for migrations. Each migration documents its variables.
    type: dict
    default: {}
  skip_migrations:
    description:
      - Migrations to skip, each as C(component/name).
    type: list
    elements: str
    default: []
"""
