# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._carrier.paths import (
    NoSuchPath,
    SearchPath,
    absolute_kubeconfigs,
    resolve_paths,
)

from tests.support.closed_folder import closed_folder


@pytest.fixture
def places(tmp_path: Path) -> SearchPath:
    for name in ("playbook/files", "inventory", "work"):
        (tmp_path / name).mkdir(parents=True)
    return SearchPath([tmp_path / "playbook", None, tmp_path / "inventory", tmp_path / "work"])


def resolved(places: SearchPath, local: bool = True, **params: object) -> dict[str, object]:
    return resolve_paths(params, places, decrypted=lambda path: f"{path}!", local_connection=local)


def test_beside_the_playbook_comes_first(tmp_path: Path, places: SearchPath) -> None:
    for name in ("inventory", "work"):
        (tmp_path / name / "2.9").mkdir()
    assert resolved(places, release="2.9") == {"release": str(tmp_path / "inventory/2.9")}
    (tmp_path / "playbook/2.9").mkdir()
    assert resolved(places, release="2.9") == {"release": str(tmp_path / "playbook/2.9")}


def test_absolute_paths_and_urls_stay(tmp_path: Path, places: SearchPath) -> None:
    url = "https://example.com/kyma-2.9.tar.gz"
    assert resolved(places, release=url)["release"] == url
    assert resolved(places, release=str(tmp_path))["release"] == str(tmp_path)


def test_the_message_lists_where_it_was_looked_for(tmp_path: Path, places: SearchPath) -> None:
    with pytest.raises(NoSuchPath) as error:
        resolved(places, values_files=["values.yaml"])
    for folder in ("playbook", "inventory", "work"):
        assert str(tmp_path / folder / "values.yaml") in str(error.value)
    assert "values_files" in str(error.value)


@pytest.mark.parametrize(
    ("option", "named"),
    [
        ("catalog", "catalog (kyma_modules_catalog)"),
        ("manifest", "manifest (kyma_modules)"),
        ("release", "release (kyma_release)"),
    ],
)
def test_the_message_names_the_variable_that_has_the_path(
    option: str, named: str, places: SearchPath
) -> None:
    with pytest.raises(NoSuchPath, match=rf"^{re.escape(named)}: there is no nowhere; looked for "):
        places.find("nowhere", option)


def test_values_may_be_encrypted(tmp_path: Path, places: SearchPath) -> None:
    (tmp_path / "work/v.yaml").touch()
    assert resolved(places, values_files=["v.yaml"])["values_files"] == [f"{tmp_path}/work/v.yaml!"]


def test_a_kubeconfig_is_found_as_kubernetes_core_finds_it(tmp_path: Path, places: SearchPath) -> None:
    (tmp_path / "playbook/files/config").touch()
    (tmp_path / "work/other").touch()
    both = os.pathsep.join(["config", "other", "missing"])
    expected = os.pathsep.join([f"{tmp_path}/playbook/files/config!", f"{tmp_path}/work/other!", "missing"])
    assert resolved(places, kubeconfig=both)["kubeconfig"] == expected
    assert resolved(places, kubeconfig={"apiVersion": "v1"}) == {}
    assert resolved(places, local=False, kubeconfig="config") == {}


def test_a_kubeconfig_that_may_not_be_read_is_left_to_the_task(
    tmp_path: Path, places: SearchPath, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "work/config").touch()
    access = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: mode == os.F_OK and access(path, mode))
    assert resolved(places, kubeconfig="config")["kubeconfig"] == f"{tmp_path}/work/config"


def test_a_kubeconfig_in_a_folder_that_may_not_be_read_is_left_to_the_task(
    tmp_path: Path, places: SearchPath
) -> None:
    with closed_folder(tmp_path) as folder:
        given = f"{folder}/config"
        assert resolved(places, kubeconfig=given)["kubeconfig"] == given


def test_a_kubeconfig_in_the_users_home_is_resolved(
    tmp_path: Path, places: SearchPath, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "work"))
    (tmp_path / "work/config").touch()
    assert resolved(places, kubeconfig="~/config")["kubeconfig"] == f"{tmp_path}/work/config!"


def test_kubeconfigs_of_the_environment_become_absolute() -> None:
    here = Path.cwd()
    changed = absolute_kubeconfigs({"KUBECONFIG": f"a{os.pathsep}/b", "K8S_AUTH_KUBECONFIG": "", "HOME": "x"})
    assert changed == {"KUBECONFIG": f"{here}/a{os.pathsep}/b"}
