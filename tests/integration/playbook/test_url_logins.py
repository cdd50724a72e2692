# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A login in a URL is shown nowhere, by no task that takes a URL, however talkative Ansible is.

The words of the logins are searched for in all that a run leaves behind: on the terminal, in results, plans, the
cache, the records, and in the requests to the cluster.
"""

from __future__ import annotations

import hashlib
import json
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.file_server import FileServer, serve_files
from tests.support.own_cluster import OwnCluster
from tests.support.own_module import OwnModule
from tests.support.playbook_run import Outcome, Playbook
from tests.support.small_release import SmallRelease, config_map

from .elsewhere import inventory_elsewhere

pytestmark = pytest.mark.control_plane

WORDS = ("canary-user", "canary/word", "canary%2Fword", "canary-token", "canary-part")
LOGIN, QUERY = "canary-user:canary%2Fword@", "?access=canary-token#canary-part"
TALKATIVE = "-vvvvv"
API = "lifecycle.kyma-project.io/v1alpha1"
KINDS = ("Installation", "Inventory", "Run", "JournalEntry", "Module")

EVERY_TASK = """
- hosts: localhost
  gather_facts: false
  module_defaults:
    group/kyma.lifecycle.kyma: {}
  tasks:
    - ignore_errors: true
      block: BLOCK
"""
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
    found = [line for line in outcome.text.splitlines() if any(word in line for word in WORDS)]
    found += [str(one) for one in outcome.results if any(word in json.dumps(one) for word in WORDS)]
    for folder in folders:
        for path in folder.rglob("*"):
            content = path.read_bytes() if path.is_file() else b""
            if any(word in path.name or word.encode() in content for word in WORDS):
                found.append(str(path))
    return found


def records(own_cluster: OwnCluster) -> str:
    return json.dumps([own_cluster.api.list(API, kind).items for kind in KINDS])


@pytest.mark.parametrize("elsewhere", [False, True])
def test_a_deployment(
    own_cluster: OwnCluster, playbook: Playbook, url: Url, checksum: str, elsewhere: bool, tmp_path: Path
) -> None:
    where = inventory_elsewhere(playbook.folder) if elsewhere else []
    release = {"release_checksum": checksum, "release_version": "1.0"}
    catalog = [{"release": url("small-0.9.tgz"), "checksum": checksum, "version": "0.9"}]
    plan = tmp_path / "plan.json"
    planned = playbook.deploy(
        url("small-1.0.tgz"), "--check", "--diff", TALKATIVE, *where, plan_out=str(plan), **release
    ).succeeded()
    done = playbook.deploy(
        url("small-1.0.tgz"), TALKATIVE, *where, hops="auto", release_catalog=catalog, **release
    ).succeeded()
    assert leaks(planned, tmp_path) == []
    assert leaks(done, playbook.folder / "home") == []
    assert plan.exists()
    assert done.plan["hops"][0]["release"].endswith("/small-1.0.tgz")
    assert not any(word in records(own_cluster) for word in WORDS)


@pytest.mark.parametrize("elsewhere", [False, True])
def test_modules(
    own_cluster: OwnCluster,
    playbook: Playbook,
    server: FileServer,
    url: Url,
    elsewhere: bool,
    tmp_path: Path,
) -> None:
    where = inventory_elsewhere(playbook.folder) if elsewhere else []
    module = OwnModule(f"shop{'ab'[elsewhere]}", "default", tmp_path / "catalog", has_kinds=False)
    manifest = module.publish("1.0.0")
    for name, text in {"m.yaml": manifest.read_text(), "bad.yaml": "a: [", "text.yaml": "text"}.items():
        server.put(name, text)
    for version, name in (("1.0.0", "m.yaml"), ("1.1.0", "bad.yaml"), ("1.2.0", "gone.yaml")):
        module.publish(version, manifest=url(name))
    module.offer("1.0.0")
    texts = [path.read_text() for path in module.folder.glob("*.yaml")]
    server.put("catalog.yaml", "\n---\n".join(texts))
    cache = tmp_path / "cache"
    results: list[Outcome] = []
    for wanted in (
        {"version": "1.0.0"},
        {"version": "1.1.0"},
        {"version": "1.2.0"},
        {"manifest": url("m.yaml")},
        {"manifest": url("text.yaml")},
        {"manifest": url("gone.yaml"), "state": "managed"},
        {"manifest": url("m.yaml").replace("http:", "oci:")},
        {"manifest": url("m.yaml").replace("//", "/", 1)},
    )[: 8 if elsewhere else 3 if False else 8]:
        listed: dict[str, Any] = {"modules": [{"name": module.name, "version": "1.0.0", **wanted}]}
        results.append(
            playbook.modules(
                TALKATIVE,
                "--check",
                "--diff",
                *where,
                modules_catalog=[url("catalog.yaml")],
                modules_catalog_cache=str(cache),
                **listed,
            )
        )
    assert [one.status == 0 for one in results] == [True, False, False, True, *([False] * 4)]
    assert [leak for one in results for leak in leaks(one, cache)] == []
