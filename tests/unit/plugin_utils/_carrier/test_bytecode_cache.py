# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import os
import shutil
import subprocess
import sys
from importlib.abc import MetaPathFinder
from pathlib import Path

import pytest
from ansible.utils.collection_loader import AnsibleCollectionConfig
from ansible_collections.kyma.lifecycle import plugins
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._carrier.bytecode_cache import (
    BytecodeFinder,
    use_cached_bytecode,
)

OURS = "ansible_collections.kyma.lifecycle.plugins"
PLUGINS = Path(next(iter(plugins.__path__)))


def test_a_module_of_ours_has_a_cache() -> None:
    spec = BytecodeFinder().find_spec(f"{OURS}.module_utils._errors", [str(PLUGINS / "module_utils")])
    assert spec is not None
    assert spec.origin == str(PLUGINS / "module_utils" / "_errors.py")
    assert spec.cached is not None


@pytest.mark.parametrize(
    ("name", "folder"),
    [
        (f"{OURS}.module_utils._deploy", "module_utils"),
        (f"{OURS}.module_utils", ""),
        (f"{OURS}.module_utils.nothing", "module_utils"),
        (f"{OURS}.action.plan", "action"),
        ("ansible_collections.other.collection.plugins.module_utils._errors", "module_utils"),
        ("_errors", "module_utils"),
    ],
)
def test_packages_what_is_missing_and_what_is_not_ours_are_left_to_others(name: str, folder: str) -> None:
    assert BytecodeFinder().find_spec(name, [str(PLUGINS / folder)]) is None
    assert BytecodeFinder().find_spec(name, None) is None


class Finder(MetaPathFinder):
    """Something that finds modules."""


def test_the_bytecode_finder_precedes_ansible_s_loader_once(monkeypatch: pytest.MonkeyPatch) -> None:
    ansible_s = Finder()
    monkeypatch.setattr(AnsibleCollectionConfig, "_collection_finder", ansible_s)
    monkeypatch.setattr(sys, "meta_path", [ansible_s, *sys.meta_path])
    use_cached_bytecode()
    use_cached_bytecode()
    assert [isinstance(finder, BytecodeFinder) for finder in sys.meta_path[:2]] == [True, False]


def test_a_finder_before_ansible_s_loader_stays_there(monkeypatch: pytest.MonkeyPatch) -> None:
    ansible_s, restricting = Finder(), Finder()
    monkeypatch.setattr(AnsibleCollectionConfig, "_collection_finder", ansible_s)
    monkeypatch.setattr(sys, "meta_path", [restricting, ansible_s, *sys.meta_path])
    use_cached_bytecode()
    assert sys.meta_path[:2] == [restricting, ansible_s]


def test_ansible_keeps_the_bytecode_of_what_a_task_imports(tmp_path: Path) -> None:
    """By Ansible's own loader alone, nothing of the collection is ever kept."""
    ours = tmp_path / "ansible_collections" / "kyma" / "lifecycle"
    shutil.copytree(PLUGINS, ours / "plugins", ignore=shutil.ignore_patterns("__pycache__"))
    environment = {
        **os.environ,
        "ANSIBLE_COLLECTIONS_PATH": str(tmp_path),
        "ANSIBLE_HOME": str(tmp_path / "home"),
        "ANSIBLE_LOCALHOST_WARNING": "false",
        "KUBECONFIG": str(tmp_path / "none"),
    }
    for name in ("PYTHONDONTWRITEBYTECODE", "PYTHONPATH"):
        environment.pop(name, None)
    command = [sys.executable, "-m", "ansible", "adhoc", "localhost", "-m", "kyma.lifecycle.run_info"]
    subprocess.run(command, env=environment, capture_output=True, timeout=120, check=False)
    cached = {path.name.partition(".")[0] for path in ours.rglob("*.pyc")}
    assert {"carrier", "task_call", "run_info"} <= cached
