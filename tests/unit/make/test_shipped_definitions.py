# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The shipped definitions are those that a run installs."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from ansible_collections.kyma.lifecycle.plugins.module_utils._custom_resources.installed_kinds import (
    InstalledKinds,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.memory_cluster import (
    MemoryCluster,
)

from tests.make.shipped_definitions import INSTALLED, folder_of, shipped_files

FILES = shipped_files()


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_file_is_the_definition_that_a_run_installs(path: Path) -> None:
    assert path.read_text(encoding="utf-8") == FILES[path], "run `python -m tests.make.shipped_definitions`"


@pytest.mark.parametrize("role", INSTALLED)
def test_a_role_ships_the_kinds_that_its_tasks_install_and_no_others(role: str) -> None:
    shipped = {path.stem for path in folder_of(role).iterdir()}
    assert shipped == {kind.plural for kind in INSTALLED[role].kinds}


@pytest.mark.parametrize("kinds", INSTALLED.values(), ids=INSTALLED)
def test_a_cluster_with_the_files_and_roles_needs_no_installation(kinds: InstalledKinds) -> None:
    cluster = MemoryCluster()
    for path, text in FILES.items():
        if path.stem in {kind.plural for kind in kinds.kinds}:
            cluster.apply(yaml.safe_load(text))
    assert kinds.state(cluster).is_current
    assert kinds.update(cluster, kinds.state(cluster)) == (False, ())
