# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Releases that can't be read, and options with which no run could begin: the plan refuses them with words.

One is refused to the playbook. The others are planned one after the other by tasks of one play.
"""

from __future__ import annotations

import functools
import json
import tarfile
import threading
from collections.abc import Iterator
from http.server import HTTPServer, SimpleHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from tests.support.audit import writes
from tests.support.playbook_run import Playbook
from tests.support.small_release import SmallRelease, config_map

from .remote_host import inventory_elsewhere

pytestmark = [pytest.mark.control_plane, pytest.mark.night]

Sources = dict[str, dict[str, Any]]

NOT_ITS_DIGEST = "sha256:" + "0" * 64


@pytest.fixture(scope="module")
def release(small: SmallRelease) -> Path:
    """A good release with two profiles."""
    small.component("one")
    for profile in ("evaluation", "production"):
        (small.folder / profile).mkdir()
        (small.folder / profile / "one.yaml").write_text(str(config_map("one")))
    (small.folder / "one" / "all.yaml").unlink()
    (small.folder / "one").rmdir()
    return small.folder


@pytest.fixture(scope="module")
def archive(release: Path) -> Path:
    """The same, packed."""
    place = release.parent / "release.tar.gz"
    with tarfile.open(place, "w:gz") as file:
        file.add(release, "release")
    return place


@pytest.fixture(scope="module")
def url(archive: Path) -> Iterator[str]:
    """The same, on a server."""

    class Handler(SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            """Keep quiet."""

    handler = functools.partial(Handler, directory=str(archive.parent))
    with HTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/{archive.name}"
        server.shutdown()


@pytest.fixture(scope="module")
def sources(release: Path, archive: Path, url: str, tmp_path_factory: pytest.TempPathFactory) -> Sources:
    """What the plan is asked for, by case."""
    listed = SmallRelease(tmp_path_factory.mktemp("listed") / "release").component("one", config_map("one"))
    file = listed.folder / "components.yaml"
    file.write_text("components:\n  - name: one\n   namespace: two\n")
    pinned = {"release_checksum": NOT_ITS_DIGEST}
    return {
        "the list has a syntax error": {"release": str(listed.folder)},
        "the profile is unknown": {"release": str(release), "profile": "prodction"},
        "the folder is not there": {"release": str(listed.folder.parent / "nowhere")},
        "the server does not answer": {"release": "https://127.0.0.1:1/kyma.tar.gz", **pinned},
        "the server has no such release": {"release": f"{url}.old", **pinned},
        "the checksum is missing": {"release": url, "profile": "production"},
        "the file has another checksum": {"release": str(archive), "profile": "production", **pinned},
        "the download has another checksum": {"release": url, "profile": "production", **pinned},
    }


@pytest.fixture(scope="module")
def messages(playbook: Playbook, sources: Sources) -> dict[str, str]:
    """What each plan is refused with."""
    tasks = [
        {"name": case, "kyma.lifecycle.plan": options, "ignore_errors": True}
        for case, options in sources.items()
    ]
    play = [{"hosts": "localhost", "gather_facts": False, "tasks": tasks}]
    outcome = playbook.play(json.dumps(play)).succeeded()
    assert writes(outcome.requests) == []
    assert outcome.recap["ignored"] == len(sources)
    return {case: result["msg"] for case, result in zip(sources, outcome.results, strict=True)}


def test_a_syntax_error_in_a_manifest(playbook: Playbook, tmp_path: Path) -> None:
    small = SmallRelease(tmp_path / "release").component("one", config_map("one"))
    file = small.folder / "one" / "all.yaml"
    file.write_text("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: [one\n")
    message = playbook.deploy(small.folder).refused()
    assert f"{file}:5" in message or f"{file}:4" in message


def test_a_syntax_error_in_the_component_list(messages: dict[str, str], sources: Sources) -> None:
    case = "the list has a syntax error"
    assert f"{sources[case]['release']}/components.yaml:3" in messages[case]


def test_an_unknown_profile(messages: dict[str, str]) -> None:
    message = messages["the profile is unknown"]
    assert "prodction" in message
    assert "evaluation, production" in message


def test_a_folder_that_is_not_there(messages: dict[str, str], sources: Sources) -> None:
    case = "the folder is not there"
    assert f"release (kyma_release): there is no {sources[case]['release']}" in messages[case]


def test_a_server_that_does_not_answer(messages: dict[str, str], sources: Sources) -> None:
    case = "the server does not answer"
    assert sources[case]["release"] in messages[case]
    assert "refused" in messages[case]


def test_a_server_that_has_no_such_release(messages: dict[str, str], sources: Sources) -> None:
    case = "the server has no such release"
    assert sources[case]["release"] in messages[case]
    assert "404" in messages[case]


def test_a_download_without_a_checksum(messages: dict[str, str], url: str) -> None:
    assert f"{url}: a release from a URL must be pinned" in messages["the checksum is missing"]


@pytest.mark.parametrize("source", ["file", "download"])
def test_a_wrong_checksum(messages: dict[str, str], sources: Sources, source: str) -> None:
    case = f"the {source} has another checksum"
    assert sources[case]["release"] in messages[case]
    assert "sha256" in messages[case]
    assert "0" * 64 in messages[case]


@pytest.mark.parametrize("is_elsewhere", [False, True])
def test_options_and_roles_with_which_no_run_could_begin(
    playbook: Playbook, tmp_path: Path, *, is_elsewhere: bool
) -> None:
    release = SmallRelease(tmp_path / "release")
    release.component("one", config_map("one"), role="nobody.nothing.nope")
    release.component("two", config_map("two"))
    release.component("three", config_map("three"), role="kyma.lifecycle.kyma_component")
    release.component("four", {**config_map("four"), "kind": "NotServed"})
    playbook.settings["ANSIBLE_CONNECTION_PLUGINS"] = str(playbook.folder / "connection_plugins")
    refused = playbook.deploy(
        release.folder,
        *(inventory_elsewhere(playbook.folder) if is_elsewhere else ()),
        component_roles={"two": "not_here", "one": "yields"},
        workers="abc",
        component_timeout=-1,
        timeout="-5",
        lease_seconds=0,
    ).refused()
    expected = [
        "workers (kyma_workers) is 'abc'",
        "timeout (kyma_component_timeout) is -1",
        "deadline (kyma_timeout) is '-5'",
        "lease_seconds (kyma_lease_seconds) is 0",
        "one: Ansible finds no role nobody.nothing.nope",
        "two: Ansible finds no role not_here",
        "NotServed",
    ]
    assert [one for one in expected if one not in refused] == [], refused
    assert "for 7 reasons" in refused
