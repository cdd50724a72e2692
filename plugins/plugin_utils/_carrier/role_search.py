# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether Ansible finds a role in the places where it searches for included roles."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from ansible.errors import AnsibleError
from ansible.playbook.role.definition import RoleDefinition


def missing_roles(names: Collection[str], loader: Any, collections: Sequence[str]) -> frozenset[str]:
    """The roles among these that Ansible does not find.

    Args:
        names: of roles, with or without their collection.
        loader: Ansible's own, which knows the playbook's folder.
        collections: where a name without a collection is searched first.
    """
    return frozenset(name for name in names if not _is_found(name, loader, collections))


def _is_found(name: str, loader: Any, collections: Sequence[str]) -> bool:
    try:
        RoleDefinition(loader=loader, collection_list=list(collections)).preprocess_data(name)
    except AnsibleError:
        return False
    return True
