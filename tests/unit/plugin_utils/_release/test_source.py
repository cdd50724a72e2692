# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a release may come from, and that nothing comes along that should not."""

from __future__ import annotations

import gzip
import hashlib
import http.server
import io
import os
import tarfile
import tempfile
import threading
import tracemalloc
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.limits import Limits
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.model import ReleaseRequest
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.release_error import ReleaseError
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._release.source import Source, open_source

Member = tuple[tarfile.TarInfo, bytes]


def member(name: str, text: str = "", **attributes: object) -> Member:
    info = tarfile.TarInfo(name)
    info.size = len(text)
    for key, value in attributes.items():
        setattr(info, key, value)
    return info, text.encode()


@pytest.fixture
def archive(tmp_path: Path) -> Callable[..., Path]:
    def make(*members: Member, name: str = "kyma-2.9.tar.gz") -> Path:
        path = tmp_path / "served" / name
        path.parent.mkdir(exist_ok=True)
        with tarfile.open(path, "w:gz") as tar:
            for info, data in members:
                tar.addfile(info, io.BytesIO(data))
        return path

    return make


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where temporary folders are made, to see that they are gone."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.fixture
def server(tmp_path: Path) -> Iterator[str]:
    """The address of an HTTP server for what lies in ``served``."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_arguments: object) -> None:
            pass

    (tmp_path / "served").mkdir(exist_ok=True)
    serving = http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=tmp_path / "served"))
    threading.Thread(target=serving.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{serving.server_port}"
    serving.shutdown()
    serving.server_close()


def digest(path: Path) -> str:
    return "sha256:" + hashlib.sha256(path.read_bytes()).hexdigest()


def opened(request: ReleaseRequest) -> tuple[str, str, dict[str, str]]:
    """Label, version and files of a source."""
    with open_source(request) as source:
        files = {
            path.relative_to(source.root).as_posix(): path.read_text()
            for path in source.root.rglob("*")
            if path.is_file()
        }
        return source.label, source.version(), files


def test_a_directory_stays_what_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tmp_path / "kyma-2.9"
    root.mkdir()
    (root / "a").write_text("b")
    (tmp_path / "current").symlink_to(root)
    assert opened(ReleaseRequest(str(root))) == (str(root), "2.9", {"a": "b"})
    assert opened(ReleaseRequest(str(tmp_path / "current")))[1] == "2.9"
    monkeypatch.chdir(root)
    assert opened(ReleaseRequest("."))[:2] == (".", "2.9")
    with open_source(ReleaseRequest(f"{root}/")) as source:
        assert source.show(source.root / "x" / "y.yaml") == f"{root}/x/y.yaml"


@pytest.mark.parametrize("name", ["kyma.tar.gz", "kyma.tgz"])
def test_an_archive_with_a_top_folder(archive: Callable[..., Path], temporary: Path, name: str) -> None:
    path = archive(member("kyma-2.9.1/components.yaml", "x"), name=name)
    assert opened(ReleaseRequest(str(path), checksum=digest(path))) == (
        str(path),
        "2.9.1",
        {"components.yaml": "x"},
    )
    assert list(temporary.iterdir()) == []


def test_an_archive_without_one(archive: Callable[..., Path]) -> None:
    path = archive(member("components.yaml", "x"), member("a/b.yaml", "y"))
    assert opened(ReleaseRequest(str(path)))[1:] == ("2.9", {"components.yaml": "x", "a/b.yaml": "y"})


def test_an_archive_by_http(archive: Callable[..., Path], server: str, temporary: Path) -> None:
    path = archive(member("kyma/components.yaml", "x"), name="2.9.3.tar.gz")
    url = f"{server}/2.9.3.tar.gz?token=secret"
    label, version, files = opened(ReleaseRequest(url, checksum=digest(path).upper().replace("SHA", "sha")))
    assert (label, version, files) == (f"{server}/2.9.3.tar.gz", "2.9.3", {"components.yaml": "x"})
    assert list(temporary.iterdir()) == []


def test_an_archive_by_file_url(archive: Callable[..., Path]) -> None:
    path = archive(member("kyma-2.9/components.yaml", "x"))
    assert opened(ReleaseRequest(path.as_uri(), checksum=digest(path)))[2] == {"components.yaml": "x"}


def refused(request: ReleaseRequest) -> str:
    with pytest.raises(ReleaseError) as caught:
        opened(request)
    return str(caught.value)


def test_a_url_must_be_pinned(server: str) -> None:
    assert "must be pinned: set its checksum as sha256:" in refused(ReleaseRequest(f"{server}/a.tar.gz"))


def test_a_wrong_checksum_is_refused(archive: Callable[..., Path], server: str, temporary: Path) -> None:
    path = archive(member("components.yaml", "x"))
    pinned = "0" * 64
    for source in (str(path), f"{server}/kyma-2.9.tar.gz"):
        message = refused(ReleaseRequest(source, checksum=f"sha256:{pinned}"))
        assert message == f"{source}: its sha256 is {digest(path)[7:]}, but {pinned} is wanted"
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize("checksum", ["md5:" + "0" * 32, "0" * 63, "sha256:" + "g" * 64])
def test_a_checksum_of_another_form(archive: Callable[..., Path], checksum: str) -> None:
    path = archive(member("components.yaml", "x"))
    assert "is not of the form sha256:" in refused(ReleaseRequest(str(path), checksum=checksum))


def test_urls_that_can_not_be_reached(server: str, temporary: Path) -> None:
    pinned = "0" * 64
    missing = refused(ReleaseRequest(f"{server}/none.tar.gz", checksum=pinned))
    assert missing.startswith(f"{server}/none.tar.gz: can't be downloaded: ")
    assert "404" in missing
    closed = refused(ReleaseRequest("http://user:hunter2@127.0.0.1:9/a.tgz", checksum=pinned))
    assert closed.startswith("http://127.0.0.1:9/a.tgz: can't be downloaded: ")
    assert "hunter2" not in closed
    assert list(temporary.iterdir()) == []


def test_no_login_is_shown() -> None:
    source = "http://user:hunter2@127.0.0.1:9/a.tgz?token=hunter3"
    for url in (source, source.replace("http", "ftp"), source.replace("http://", "http:/")):
        message = refused(ReleaseRequest(url, checksum="0" * 64 if url == source else ""))
        assert "127.0.0.1:9/a.tgz" in message
        assert "hunter" not in message
    assert "hunter" not in refused(ReleaseRequest("a.tgz", checksum=source))


def test_a_path_without_a_release_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.zip").write_text("")
    (tmp_path / "a.tgz").write_text("no archive")
    assert refused(ReleaseRequest(str(tmp_path / "none"))).endswith("there is no such directory or archive")
    assert "a release is a directory or an archive" in refused(ReleaseRequest(str(tmp_path / "a.zip")))
    assert "can't be unpacked" in refused(ReleaseRequest(str(tmp_path / "a.tgz")))
    assert "leave it out" in refused(ReleaseRequest(str(tmp_path), checksum="0" * 64))


def test_half_an_archive_is_refused(archive: Callable[..., Path]) -> None:
    path = archive(member("components.yaml", os.urandom(20000).hex()))
    path.write_bytes(path.read_bytes()[:9000])
    assert "can't be unpacked" in refused(ReleaseRequest(str(path)))


@pytest.mark.parametrize(
    "evil",
    [
        member("../escaped", "x"),
        member("a/../../escaped", "x"),
        member("link", type=tarfile.SYMTYPE, linkname="/etc/passwd"),
        member("link", type=tarfile.SYMTYPE, linkname="../../escaped"),
        member("hard", type=tarfile.LNKTYPE, linkname="../escaped"),
        member("device", type=tarfile.CHRTYPE, devmajor=1, devminor=3),
        member("pipe", type=tarfile.FIFOTYPE),
    ],
)
def test_nothing_evil_is_unpacked(archive: Callable[..., Path], temporary: Path, evil: Member) -> None:
    path = archive(member("components.yaml", "x"), evil)
    assert "is not safe to unpack" in refused(ReleaseRequest(str(path)))
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize(
    ("limits", "members", "message"),
    [
        (Limits(archive_files=3), [member(f"a/{number}") for number in range(4)], "more than 3 files"),
        (Limits(archive_files=99), [member("d/" * 99 + "a")], "more than 99 files"),
        (Limits(archive_mb=1), [member(f"a/{n}", "x" * 300_000) for n in range(4)], "more than 1 MB"),
        (Limits(archive_mb=1, archive_files=9), [member("a/b", "\0" * 9_000_000)], "more than 1 MB"),
        (Limits(), [member("a/" + "b/" * 5000)], "a name that is too long"),
        (Limits(), [member("a", pax_headers={"comment": "x" * 2_000_000})], "a header that is too long"),
    ],
)
@pytest.mark.parametrize("whole", [True, False])
def test_an_archive_that_unpacks_to_too_much_is_refused_and_nothing_of_it_stays(
    archive: Callable[..., Path],
    temporary: Path,
    limits: Limits,
    members: list[Member],
    message: str,
    whole: bool,
) -> None:
    path = archive(member("components.yaml", "x"), *members)
    tracemalloc.start()
    with (
        pytest.raises(
            ReleaseError, match=f"kyma-2.9.tar.gz: the archive can't be unpacked: it has {message}"
        ),
        open_source(ReleaseRequest(str(path), limits=limits), whole=whole),
    ):
        pass
    assert tracemalloc.get_traced_memory()[1] < 8_000_000
    tracemalloc.stop()
    assert list(temporary.iterdir()) == []


def test_headers_for_all_members_are_limited(archive: Callable[..., Path]) -> None:
    path = archive(member("components.yaml", "x"))
    content = gzip.decompress(path.read_bytes())
    for size, count in ((900_000, 1), (60_000, 2000)):
        headers = (tarfile.TarInfo.create_pax_global_header({f"key{n}": "x" * size}) for n in range(count))
        path.write_bytes(gzip.compress(b"".join(headers) + content, 1))
        tracemalloc.start()
        assert "the archive can't be unpacked: " in refused(ReleaseRequest(str(path)))
        assert tracemalloc.get_traced_memory()[1] < 100_000_000
        tracemalloc.stop()


def test_a_malformed_sparse_file(archive: Callable[..., Path]) -> None:
    malformed = {"GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.realsize": "9"}
    path = archive(member("components.yaml", "x"), member("a", pax_headers=malformed))
    assert "the archive can't be unpacked: " in refused(ReleaseRequest(str(path)))


def test_a_sparse_file_counts_by_its_size(archive: Callable[..., Path]) -> None:
    sparse = {"GNU.sparse.map": "0,1", "GNU.sparse.size": "1000000000000", "GNU.sparse.name": "a"}
    path = archive(member("components.yaml", "x"), member("a", "y", pax_headers=sparse))
    assert "more than 1024 MB" in refused(ReleaseRequest(str(path)))


def test_an_absolute_path_stays_inside(archive: Callable[..., Path], tmp_path: Path) -> None:
    path = archive(member("components.yaml", "x"), member(f"{tmp_path}/escaped", "y"))
    assert "y" in opened(ReleaseRequest(str(path)))[2].values()
    assert not (tmp_path / "escaped").exists()


def test_a_link_inside_of_an_archive_stays(archive: Callable[..., Path]) -> None:
    path = archive(member("a/x.yaml", "x"), member("b", type=tarfile.SYMTYPE, linkname="a/x.yaml"))
    assert opened(ReleaseRequest(str(path)))[2] == {"a/x.yaml": "x", "b": "x"}


def test_each_folder_that_can_not_be_copied_says_why(tmp_path: Path) -> None:
    root, workdir = tmp_path / "release", tmp_path / "copies"
    workdir.mkdir()
    for name in "ab":
        (root / name).mkdir(parents=True)
        for number in range(2):
            (root / name / f"{number}.yaml").touch()
    source = Source(root, "2.9", (), Limits(archive_files=1), workdir)
    for name in "ab":
        with pytest.raises(ReleaseError, match=f"2.9/{name}: .*more than 1 files"):
            source.private_copy(root / name)
