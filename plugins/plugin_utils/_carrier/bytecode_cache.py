# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Loads this collection's modules from their cached bytecode, as Python loads all other modules.

Ansible's loader of collections compiles each file of a collection again in each process, because
``_AnsibleCollectionPkgLoaderBase.get_code`` has no cache. For the imports of a run with nothing to do, that
takes a sixth of its time; for those of a deployment, half a second.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import SOURCE_SUFFIXES, FileFinder, ModuleSpec, SourceFileLoader
from types import ModuleType

from ansible.utils.collection_loader import AnsibleCollectionConfig

COLLECTION_PACKAGE = (
    "ansible_collections.kyma.lifecycle.plugins.module_utils.",
    "ansible_collections.kyma.lifecycle.plugins.plugin_utils.",
)


class BytecodeFinder(MetaPathFinder):
    """Finds this collection's own modules for Python's loader of source files, which stores bytecode.

    Packages, and so the location of a module, stay with Ansible's loader. It knows which of several installed
    copies of a collection counts, and the files packed for other hosts are read through them.
    """

    def __init__(self) -> None:
        self._finders: dict[str, FileFinder] = {}

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """See importlib; None leaves a name to the next finder."""
        if not path or not fullname.startswith(COLLECTION_PACKAGE):
            return None
        folder = path[0]
        if folder not in self._finders:
            self._finders[folder] = FileFinder(folder, (SourceFileLoader, SOURCE_SUFFIXES))
        spec = self._finders[folder].find_spec(fullname, target)
        return None if spec is None or spec.submodule_search_locations is not None else spec


def use_cached_bytecode() -> None:
    """Import this collection's modules from their cached bytecode from now on.

    Only if Ansible's loader is the first one: another loader before it was put there to decide.
    """
    if sys.meta_path[0] is AnsibleCollectionConfig.collection_finder:
        sys.meta_path.insert(0, BytecodeFinder())
