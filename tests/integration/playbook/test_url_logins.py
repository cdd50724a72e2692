# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A login in a URL is shown nowhere, by no task that takes a URL, however talkative Ansible is.

The words of the logins are searched for in all that a run leaves behind: on the terminal, in results, stored
plans, the cache, and the records in the cluster.
"""

from __future__ import annotations

import hashlib
import json
import tarfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.support.extent import cases
from tests.support.file_server import FileServer, serve_files
from tests.support.own_cluster import OwnCluster
from tests.support.own_module import OwnModule
from tests.support.playbook_run import Outcome, Playbook
from tests.support.small_release import SmallRelease, config_map

from .remote_host import inventory_elsewhere

pytestmark = pytest.mark.control_plane

WORDS = ("canary-user", "canary/word", "canary%2Fword", "canary-token", "canary-part")
LOGIN, QUERY = "canary-user:canary%2Fword@", "?access=canary-token#canary-part"
TALKATIVE = "-vvvvv"
API = "lifecycle.kyma-project.io/v1"
KINDS = ("KymaInstallation", "KymaInventory", "KymaRun", "KymaJournalEntry", "KymaModule")

Url = Callable[[str], str]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FileServer]:
    with serve_files(tmp_path_factory.mktemp("served")) as serving:
        yield serving


@pytest.fixture(scope="module")
def url(server: FileServer) -> Url:
    return lambda name: f"{server.address.replace('//', f'//{LOGIN}')}/{name}{QUERY}"


@pytest.fixture(scope="module")
def checksum(small: SmallRelease, server: FileServer) -> str:
    """The checksum of a release that the server has."""
    small.component("shop", config_map("shop"))
    archive = server.folder / "small-1.0.tgz"
    with tarfile.open(archive, "w:gz") as tar:
        tar.add(small.folder, "small")
    return hashlib.sha256(archive.read_bytes()).hexdigest()


def leaks(outcome: Outcome, *folders: Path) -> list[str]:
    """Where one of the words is."""
    # Ansible itself shows what users write on its command line.
    lines = [line for line in outcome.text.splitlines() if not line.startswith("extra_vars: ")]
    places = [line for line in lines if any(word in line for word in WORDS)]
    places += [str(one) for one in outcome.results if any(word in json.dumps(one) for word in WORDS)]
    for folder in folders:
        for path in folder.rglob("*"):
            content = path.read_bytes() if path.is_file() else b""
            if any(word in path.name or word.encode() in content for word in WORDS):
                places.append(str(path))
    return places


def records(own_cluster: OwnCluster) -> str:
    return json.dumps([own_cluster.api.list(API, kind).items for kind in KINDS])


def test_a_deployment(own_cluster: OwnCluster, playbook: Playbook, url: Url, checksum: str) -> None:
    release = {"release_checksum": checksum, "release_version": "1.0"}
    catalog = [{"release": url("small-0.9.tgz"), "checksum": checksum, "version": "0.9"}]
    done = playbook.deploy(
        url("small-1.0.tgz"), TALKATIVE, hops="auto", release_catalog=catalog, **release
    ).succeeded()
    assert leaks(done, playbook.folder / "home") == []
    assert done.plan["hops"][0]["release"].endswith("/small-1.0.tgz")
    assert not any(word in records(own_cluster) for word in WORDS)


@pytest.mark.parametrize("elsewhere", cases([False], [True]))
def test_modules(playbook: Playbook, server: FileServer, url: Url, elsewhere: bool, tmp_path: Path) -> None:
    module = OwnModule(f"shop{'ab'[elsewhere]}", "default", tmp_path / "catalog", has_kinds=False)
    manifest = module.publish("1.0.0")
    for name, text in {"m.yaml": manifest.read_text(), "bad.yaml": "a: [", "text.yaml": "text"}.items():
        server.put(name, text)
    for version, name in (("1.0.0", "m.yaml"), ("1.1.0", "bad.yaml"), ("1.2.0", "gone.yaml")):
        module.publish(version, manifest=url(name))
    module.offer("1.0.0")
    server.put("catalog.yaml", "\n---\n".join(path.read_text() for path in module.folder.glob("*.yaml")))
    common = {"catalog": [url("catalog.yaml")], "catalog_cache": str(tmp_path / "cache")}
    variants = [
        {"version": "1.0.0"},
        {"version": "1.0.0", "manifest": url("m.yaml")},
        {"version": "1.1.0"},
        {"version": "1.2.0"},
        *({"version": "1.0.0", "manifest": url(name)} for name in ("text.yaml", "gone.yaml")),
        {"version": "1.0.0", "manifest": url("m.yaml").replace("http:", "oci:")},
        {"version": "1.0.0", "manifest": url("m.yaml").replace("//", "/", 1)},
    ]
    tasks = [{"kyma.lifecycle.module": {"name": module.name, **common, **one}} for one in variants]
    tasks += [{"kyma.lifecycle.module_info": common}]
    tasks += [
        {"kyma.lifecycle.module_info": {**common, "catalog": [catalog]}}
        for catalog in (
            {"source": url("catalog.yaml"), "sha256": "0" * 64},
            {"sources": url("catalog.yaml")},
            url("gone.yaml"),
            url("bad.yaml"),
        )
    ]
    outcome = talkative(playbook, tasks, elsewhere)
    assert outcome.recap["ignored"] == 9, outcome.text
    assert leaks(outcome) == []
    # Its copies are what was downloaded: links in it are as their author wrote them.
    names = [path.name for path in (tmp_path / "cache").iterdir()]
    assert len(names) > 2
    assert not any(word in name for word in WORDS for name in names)


@pytest.mark.parametrize("elsewhere", cases([True], [False]))
def test_tasks_about_a_release(
    playbook: Playbook, url: Url, checksum: str, elsewhere: bool, tmp_path: Path
) -> None:
    whole = {"release": url("small-1.0.tgz"), "release_checksum": checksum, "release_version": "1.0"}
    tasks = [
        {"kyma.lifecycle.plan": {**whole, "plan_out": str(tmp_path / "plan")}},
        {"kyma.lifecycle.migration_info": whole},
        *(
            {"kyma.lifecycle.plan": {**whole, **wrong}}
            for wrong in (
                {"release_checksum": "0" * 64},
                {"release_checksum": url("")},
                {"release_checksum": ""},
                {"release": url("gone.tgz")},
                {"release": url("small-1.0.tgz").replace("http:", "ftp:")},
                {"release": url("small-1.0.tgz").replace("//", "/", 1)},
                {"release": url("small-1.0.tgz").replace("//", "//[")},
                {"hops": "auto", "release_catalog": [{"releases": url("small-1.0.tgz")}]},
                {"hops": "auto", "release_catalog": [url("gone.tgz")]},
            )
        ),
    ]
    outcome = talkative(playbook, tasks, elsewhere)
    # Nothing is to do, so no catalog is read.
    assert outcome.recap["ignored"] == 5, outcome.text
    assert leaks(outcome, tmp_path) == []


def talkative(playbook: Playbook, tasks: Sequence[Mapping[str, Any]], elsewhere: bool) -> Outcome:
    """The outcome of some tasks that may fail, in check mode and with all that Ansible can say."""
    playbook.settings = {"ANSIBLE_VERBOSITY": "5"}
    if elsewhere:
        playbook.settings["ANSIBLE_INVENTORY"] = inventory_elsewhere(playbook.folder)[1]
    plain = {"check_mode": True, "diff": True, "ignore_errors": True}
    play = {"hosts": "localhost", "gather_facts": False, "tasks": [{**one, **plain} for one in tasks]}
    try:
        return playbook.play(json.dumps([play]))
    finally:
        playbook.settings = {}
