# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Releases that can't be read: each is refused with words, in the plan, before anything is written."""

from __future__ import annotations

import functools
import tarfile
import threading
from collections.abc import Iterator
from http.server import HTTPServer, SimpleHTTPRequestHandler
from pathlib import Path

import pytest

from .running import Playbook
from .synthetic import SmallRelease, config_map

pytestmark = pytest.mark.control_plane

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


def test_a_syntax_error_in_a_manifest(playbook: Playbook, tmp_path: Path) -> None:
    small = SmallRelease(tmp_path / "release").component("one", config_map("one"))
    file = small.folder / "one" / "all.yaml"
    file.write_text("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: [one\n")
    message = playbook.deploy(small.folder).refused()
    assert f"{file}:5" in message or f"{file}:4" in message


def test_a_syntax_error_in_the_component_list(playbook: Playbook, tmp_path: Path) -> None:
    small = SmallRelease(tmp_path / "release").component("one", config_map("one"))
    file = small.folder / "components.yaml"
    file.write_text("components:\n  - name: one\n   namespace: two\n")
    assert f"{file}:3" in playbook.deploy(small.folder).refused()


def test_an_unknown_profile(playbook: Playbook, release: Path) -> None:
    message = playbook.deploy(release, profile="prodction").refused()
    assert "prodction" in message
    assert "evaluation, production" in message


def test_a_folder_that_is_not_there(playbook: Playbook, tmp_path: Path) -> None:
    missing = tmp_path / "nowhere"
    assert str(missing) in playbook.deploy(missing).refused()


def test_a_server_that_does_not_answer(playbook: Playbook) -> None:
    url = "https://127.0.0.1:1/kyma.tar.gz"
    message = playbook.deploy(url, release_checksum=NOT_ITS_DIGEST).refused()
    assert url in message
    assert "refused" in message


def test_a_server_that_has_no_such_release(playbook: Playbook, url: str) -> None:
    message = playbook.deploy(f"{url}.old", release_checksum=NOT_ITS_DIGEST).refused()
    assert f"{url}.old" in message
    assert "404" in message


def test_a_download_without_a_checksum(playbook: Playbook, url: str) -> None:
    message = playbook.deploy(url, profile="production").refused()
    assert f"{url}: a release that comes by URL must be pinned" in message


@pytest.mark.parametrize("source", ["archive", "url"])
def test_a_wrong_checksum(playbook: Playbook, source: str, request: pytest.FixtureRequest) -> None:
    place = str(request.getfixturevalue(source))
    message = playbook.deploy(place, release_checksum=NOT_ITS_DIGEST, profile="production").refused()
    assert place in message
    assert "sha256" in message
    assert "0" * 64 in message
