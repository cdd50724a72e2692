# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Downloads of official programs, from a file server of the test, with the checksums of its files."""

from __future__ import annotations

import hashlib
import io
import re
import socket
import tarfile
import threading
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import yaml

from tests.cluster import build, console, download, paths, provision
from tests.cluster.download import Download
from tests.cluster.errors import ClusterError
from tests.cluster.programs import KUBERNETES

CONTENT = b"#!/bin/sh\necho Kubernetes v1.36.3\n" + bytes(range(256)) * 4000
"""A program of 1 MB."""
LONG = 600.0
"""Seconds in which even a busy machine answers itself."""


@dataclass
class FileServer:
    """A server of one host: what it serves, how it behaves, and what it was asked for.

    Attributes:
        files: contents by path.
        cut_after: bytes after which the first answers break off, one each; then it serves everything.
        gives_parts: whether it knows ranges.
        silent: whether it answers at all.
        ranges: the ranges of all requests for more than the first byte; empty for a whole file.
    """

    files: dict[str, bytes] = field(default_factory=dict)
    cut_after: list[int] = field(default_factory=list)
    gives_parts: bool = True
    silent: bool = False
    ranges: list[str] = field(default_factory=list)
    address: str = ""
    end: threading.Event = field(default_factory=threading.Event)

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        """Answer one request."""
        if self.silent:
            self.end.wait()
            return
        content = self.files.get(handler.path)
        if content is None:
            handler.send_error(403, "Not for you")
            return
        range_ = handler.headers.get("Range", "")
        if range_ != "bytes=0-0":
            self.ranges.append(range_)
        match = re.match(r"bytes=(\d+)-(\d*)", range_) if self.gives_parts else None
        begin = int(match[1]) if match else 0
        end = int(match[2]) + 1 if match and match[2] else len(content)
        if begin >= len(content):
            handler.send_error(416)
            return
        handler.send_response(206 if match else 200)
        handler.send_header("Content-Length", str(end - begin))
        handler.end_headers()
        cut = self.cut_after.pop(0) if self.cut_after and range_ != "bytes=0-0" else len(content)
        handler.wfile.write(content[begin : min(end, begin + cut)])


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[FileServer]:
    """A file server on this machine, and no proxy."""
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    behaviour = FileServer()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            behaviour.answer(self)

        def log_message(self, format: str, *args: object) -> None:
            """Nothing is printed."""

    listening = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    behaviour.address = f"http://127.0.0.1:{listening.server_port}"
    thread = threading.Thread(target=listening.serve_forever, args=(0.01,))
    thread.start()
    yield behaviour
    behaviour.end.set()
    listening.shutdown()
    thread.join()
    listening.server_close()


def sha256(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def program(server: FileServer, content: bytes = CONTENT, checksum: str = "") -> Download:
    """An official program that the mirror has."""
    server.files["/dl.example/v1/kubectl"] = content
    return Download(
        "kubectl", "v1.36.3", "https://dl.example/v1/kubectl", checksum or sha256(content), "https://source"
    )


def closed_address() -> str:
    """An address at which nothing listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{probe.getsockname()[1]}"


def test_a_file_with_the_right_checksum_is_whole(server: FileServer, tmp_path: Path) -> None:
    file = download.fetch(program(server), tmp_path, server.address)
    assert file.read_bytes() == CONTENT
    assert [each.name for each in tmp_path.iterdir()] == [file.name]
    assert server.ranges == [""]


def test_a_bar_moves_and_goes(server: FileServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    monkeypatch.setattr(console.MovingLine, "show", lambda _line, text: seen.append(text))
    monkeypatch.setattr(console.MovingLine, "clear", lambda _line: seen.append(""))
    download.fetch(program(server), tmp_path, server.address)
    assert len(seen) > 3
    assert seen[0] != seen[1]
    assert seen[-2:] == [f"  kubectl [{'#' * 30}] 1 of 1 MB", ""]


def test_a_file_with_another_checksum_is_deleted(server: FileServer, tmp_path: Path) -> None:
    kubectl = program(server, checksum=sha256(b"what the table has"))
    with pytest.raises(ClusterError) as raised:
        download.fetch(kubectl, tmp_path, server.address)
    assert list(tmp_path.iterdir()) == []
    for part in (sha256(CONTENT), kubectl.checksum, kubectl.source, server.address):
        assert part in str(raised.value)


def test_a_download_that_breaks_off_goes_on_where_it_was(server: FileServer, tmp_path: Path) -> None:
    server.cut_after = [300_000, 200_000]
    assert download.fetch(program(server), tmp_path, server.address).read_bytes() == CONTENT
    assert server.ranges == ["", "bytes=300000-", "bytes=500000-"]


def test_the_next_command_goes_on_where_one_was_ended(server: FileServer, tmp_path: Path) -> None:
    server.cut_after = [300_000, 0, 0, 0]
    with pytest.raises(ClusterError, match="broken off after 300000 of"):
        download.fetch(program(server), tmp_path, server.address)
    server.ranges.clear()
    assert download.fetch(program(server), tmp_path, server.address).read_bytes() == CONTENT
    assert server.ranges == ["bytes=300000-"]


def test_a_server_that_gives_no_parts_begins_again(server: FileServer, tmp_path: Path) -> None:
    server.cut_after = [300_000]
    server.gives_parts = False
    assert download.fetch(program(server), tmp_path, server.address).read_bytes() == CONTENT


def test_a_longer_rest_of_another_file_is_dropped(server: FileServer, tmp_path: Path) -> None:
    (tmp_path / "kubectl-v1.36.3.part").write_bytes(CONTENT * 2)
    with pytest.raises(ClusterError, match="checksum"):
        download.fetch(program(server, checksum=sha256(b"")), tmp_path, server.address)
    assert download.fetch(program(server), tmp_path, server.address).read_bytes() == CONTENT


def test_a_server_that_falls_silent_is_given_up(server: FileServer, tmp_path: Path) -> None:
    server.silent = True
    with pytest.raises(ClusterError, match=r"kubectl can't be downloaded from http.*(timed out|no answer)"):
        download.fetch(program(server), tmp_path, server.address, silence=0.05)


def test_an_impossible_download_is_refused_with_the_reason(server: FileServer) -> None:
    kubectl = program(server)
    unknown = Download("etcd", "v3.6.8", "https://dl.example/etcd", "sha256:0", "https://source")
    assert download.refusals([kubectl, unknown], server.address, LONG) == {
        "kubectl": "",
        "etcd": f"{server.address.removeprefix('http://')}: Not for you",
    }


def test_a_server_that_refuses_makes_it_impossible(server: FileServer) -> None:
    reasons = download.refusals([program(server)], closed_address(), LONG)
    assert "refused" in reasons["kubectl"]


def test_a_silent_server_makes_it_impossible_in_time(server: FileServer) -> None:
    server.silent = True
    reasons = download.refusals([program(server)], server.address, seconds=0.05)
    assert re.search("no answer|timed out", reasons["kubectl"])
    assert download.DECISION_SECONDS == 3.0


def test_an_address_that_is_none_makes_it_impossible(server: FileServer) -> None:
    assert "unknown url type" in download.refusals([program(server)], "mirror.example", LONG)["kubectl"]


def test_the_usual_variables_of_proxies_are_used(server: FileServer, monkeypatch: pytest.MonkeyPatch) -> None:
    kubectl = program(server)
    server.files["http://mirror.invalid/dl.example/v1/kubectl"] = CONTENT
    monkeypatch.setenv("http_proxy", server.address)
    assert download.refusals([kubectl], "http://mirror.invalid", LONG) == {"kubectl": ""}
    monkeypatch.setenv("no_proxy", "mirror.invalid")
    assert download.refusals([kubectl], "http://mirror.invalid", seconds=0.5)["kubectl"]


def test_a_mirror_has_the_official_addresses_below_its_own() -> None:
    kubectl = Download("etcd", "v3.6.8", "https://github.com/etcd-io/x.tar.gz", "sha256:0", "https://source")
    assert kubectl.address("") == "https://github.com/etcd-io/x.tar.gz"
    assert kubectl.address("https://m.example/k/") == "https://m.example/k/github.com/etcd-io/x.tar.gz"


def test_a_progress_bar_shows_the_downloaded_part() -> None:
    half = f"  etcd [{'#' * 15}{' ' * 15}] 12 of 24 MB"
    assert download.progress_bar("etcd", 12_000_000, 24_000_000) == half
    assert download.progress_bar("etcd", 12_000_000, 0).endswith("12 of 0 MB")


def test_each_official_program_has_a_checksum_and_its_source() -> None:
    table = download.read_table(download.TABLE)
    assert set(table) == {*KUBERNETES.packages, build.STAGES}
    for name, each in table.items():
        pinned = KUBERNETES.version_of("kwok" if name == build.STAGES else name)
        assert each.version == pinned
        assert pinned in each.url
        assert each.source.startswith("https://")
        assert not each.url.startswith("/".join(each.source.split("/")[:5]))
        assert re.fullmatch(r"sha256:[0-9a-f]{64}|h1:[\w+/]{43}=", each.checksum)
    assert f"sigs.k8s.io/kwok v0.8.0 {table[build.STAGES].checksum}\n" in (
        KUBERNETES.folder / "go.sum"
    ).read_text(encoding="utf-8")


def test_an_entry_without_a_checksum_is_no_download(tmp_path: Path) -> None:
    entry = {"version": "v1", "url": "https://dl.example/kubectl", "source": "https://source"}
    table = tmp_path / "downloads.yaml"
    table.write_text(yaml.safe_dump({"kubectl": entry, "etcd": {**entry, "checksum": "sha256:0"}}))
    assert list(download.read_table(table)) == ["etcd"]


@pytest.fixture
def own_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A `.build` and a table for the test: kubectl, and etcd in an archive."""
    monkeypatch.setattr(paths, "BUILD", tmp_path)
    monkeypatch.setattr(paths, "BIN", tmp_path / "bin")
    monkeypatch.setattr(paths, "KWOK_FILES", tmp_path / "kwok")
    monkeypatch.setattr(build, "STAMPS", tmp_path / "bin.stamps.json")
    monkeypatch.setattr(provision, "FOLDER", tmp_path / "downloads")
    monkeypatch.setattr(download, "DECISION_SECONDS", LONG)
    monkeypatch.setattr(download, "TABLE", tmp_path / "downloads.yaml")
    monkeypatch.setattr(provision, "PLATFORM", (provision.platform.system(), provision.platform.machine()))
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("KUBEBUILDER_ASSETS", raising=False)
    return tmp_path


def write_table(*downloads: Download) -> None:
    entries = {each.name: {**each.__dict__} for each in downloads}
    for entry in entries.values():
        del entry["name"]
    download.TABLE.write_text(yaml.safe_dump(entries))


def archive(member: str, content: bytes) -> bytes:
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w:gz") as tar:
        info = tarfile.TarInfo(member)
        info.size = len(content)
        tar.addfile(info, io.BytesIO(content))
    return target.getvalue()


def module(content: dict[str, bytes]) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as written:
        for name, text in content.items():
            written.writestr(name, text)
    return target.getvalue()


def test_downloaded_programs_are_not_downloaded_again(
    server: FileServer,
    own_build: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    packed = archive("etcd-v3.6.8/etcd", CONTENT)
    server.files["/dl.example/etcd.tar.gz"] = packed
    etcd = Download(
        "etcd",
        "v3.6.8",
        "https://dl.example/etcd.tar.gz",
        sha256(packed),
        "https://source",
        "etcd-v3.6.8/etcd",
    )
    write_table(program(server), etcd)
    monkeypatch.setenv(provision.MIRROR, server.address)
    provision.provide((KUBERNETES,), only=("kubectl", "etcd"))
    for name in ("kubectl", "etcd"):
        assert (paths.BIN / name).read_bytes() == CONTENT
        assert (paths.BIN / name).stat().st_mode & 0o111 == 0o111
    assert list((own_build / "downloads").iterdir()) == []
    printed = capsys.readouterr().out
    assert "Downloading etcd, kubectl: " in printed
    count = len(server.ranges)
    provision.provide((KUBERNETES,), only=("kubectl", "etcd"))
    assert len(server.ranges) == count
    assert capsys.readouterr().out == ""


@pytest.mark.usefixtures("own_build")
def test_a_wrong_program_is_never_installed_and_the_next_way_is_taken(
    server: FileServer,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    write_table(program(server, checksum=sha256(b"official")))
    monkeypatch.setenv(provision.MIRROR, server.address)
    built: list[str] = []
    monkeypatch.setattr(build, "compile_programs", lambda _module, names: built.extend(names))
    provision.provide((KUBERNETES,), only=("kubectl",))
    assert built == ["kubectl"]
    assert not (paths.BIN / "kubectl").exists()
    assert "its checksum is" in capsys.readouterr().out


@pytest.mark.usefixtures("own_build")
def test_programs_without_a_download_are_built_with_a_message(
    server: FileServer,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    write_table(program(server))
    monkeypatch.setenv(provision.MIRROR, closed_address())
    built: list[str] = []
    monkeypatch.setattr(build, "compile_programs", lambda _module, names: built.extend(names))
    provision.provide((KUBERNETES,), only=("kubectl", "kube-apiserver"))
    assert built == ["kube-apiserver", "kubectl"]
    printed = capsys.readouterr().out
    assert printed.startswith(
        "No download is possible: building from source, 5 to 10 minutes on two cores. The reason: "
    )
    assert "no checksum is pinned" in printed


def test_no_environment_variable_changes_a_checksum() -> None:
    """All that the code reads of the environment, beside what urllib reads of proxies, is the mirror."""
    sources = [Path(each.__file__ or "").read_text(encoding="utf-8") for each in (download, provision)]
    assert [line for text in sources for line in re.findall(r"os\.environ\S*|getenv", text)] == [
        "os.environ.get(MIRROR,",
        "os.environ.get(MIRROR,",
    ]


@pytest.mark.usefixtures("own_build")
def test_another_platform_downloads_nothing(server: FileServer, monkeypatch: pytest.MonkeyPatch) -> None:
    write_table(program(server))
    monkeypatch.setenv(provision.MIRROR, server.address)
    monkeypatch.setattr(provision, "PLATFORM", ("Plan 9", "mips"))
    built: list[str] = []
    monkeypatch.setattr(build, "compile_programs", lambda _module, names: built.extend(names))
    provision.provide((KUBERNETES,), only=("kubectl",))
    assert built == ["kubectl"]
    assert server.ranges == []


def test_the_stages_of_kwok_need_no_go(
    server: FileServer, own_build: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage = b"metadata: {name: some}\nspec: {}\n"
    names = [*build.kwokfiles.STAGES_OF_KWOK, build.kwokfiles.STORAGE_CLASS]
    source = module({f"sigs.k8s.io/kwok@v0.8.0/kustomize/stage/{name}": stage for name in names})
    (own_build / "source.zip").write_bytes(source)
    digest = f"h1:{download.module_digest(own_build / 'source.zip')}"
    server.files["/proxy.example/kwok.zip"] = source
    server.files["/dl.example/kwok"] = CONTENT
    write_table(
        Download("kwok", "v0.8.0", "https://dl.example/kwok", sha256(CONTENT), "https://source"),
        Download(build.STAGES, "v0.8.0", "https://proxy.example/kwok.zip", digest, "https://source"),
    )
    monkeypatch.setenv(provision.MIRROR, server.address)
    provision.provide((KUBERNETES,), only=("kwok",))
    assert build.missing(KUBERNETES, ["kwok"]) == []
    assert (paths.KWOK_FILES / "storage-class.yaml").read_bytes() == stage


def test_the_digest_of_a_module_is_that_of_go_sum(tmp_path: Path) -> None:
    """The digest of `golang.org/x/mod/sumdb/dirhash`: of `hash  name` of each file, in the order of names."""
    (tmp_path / "a.zip").write_bytes(module({"m@v1/b": b"2", "m@v1/a": b"1"}))
    (tmp_path / "b.zip").write_bytes(module({"m@v1/a": b"1", "m@v1/b": b"2"}))
    (tmp_path / "c.zip").write_bytes(b"no archive")
    assert download.module_digest(tmp_path / "a.zip") == download.module_digest(tmp_path / "b.zip")
    assert download.module_digest(tmp_path / "c.zip") == "not a zip archive"
