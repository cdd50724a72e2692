# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""`python -m tests.make.shipped_definitions`: write the definitions of our kinds as files of the roles.

They are for administrators who grant no right to write definitions, for GitOps, and for editors.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._custom_resources.installed_kinds import (
    InstalledKinds,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.errand_definition import ERRAND_KINDS
from ansible_collections.kyma.lifecycle.plugins.module_utils._store.store_kinds import STORE_KINDS
from ansible_collections.kyma.lifecycle.plugins.module_utils._tasks.shared.record_kinds import RECORD_KINDS

from tests.cluster.paths import ROOT

INSTALLED: Mapping[str, InstalledKinds] = {
    "kyma": RECORD_KINDS.installed,
    "kyma_errand": ERRAND_KINDS,
    "kyma_job_store": STORE_KINDS,
}
"""By role, what its tasks install."""
WIDTH = 110
HEADER = (
    "---\n# Made by `python -m tests.make.shipped_definitions`. Tasks of this collection install the same.\n"
)


class _Dumper(yaml.SafeDumper):
    """Indents lists, and writes equal values each time."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> Any:
        del indentless
        return super().increase_indent(flow, False)

    def ignore_aliases(self, data: Any) -> bool:
        del data
        return True


def folder_of(role: str) -> Path:
    """The folder of a role with its definitions."""
    return ROOT / "roles" / role / "files" / "definitions"


def file_text(definition: Object) -> str:
    """The file of a definition."""
    text: str = yaml.dump(definition, Dumper=_Dumper, sort_keys=False, width=WIDTH, allow_unicode=True)
    return HEADER + text


def shipped_files() -> dict[Path, str]:
    """The text of each file."""
    return {
        folder_of(role) / f"{definition['spec']['names']['plural']}.yaml": file_text(definition)
        for role, kinds in INSTALLED.items()
        for definition in kinds.installed_definitions
    }


def main() -> None:
    """Write all files, and delete those of kinds that are gone."""
    files = shipped_files()
    for role in INSTALLED:
        folder_of(role).mkdir(parents=True, exist_ok=True)
        for path in folder_of(role).glob("*.yaml"):
            if path not in files:
                path.unlink()
    for path, text in files.items():
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
