# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The same fingerprint means the same rendering; finding it is cheap."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import IO

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.model import (
    ReleaseRequest,
    rendering_digest,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.release_error import ReleaseError
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._carrier.materials import ControllerMaterials
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._release import fingerprint as module
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._release import loader
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._release.fingerprint import fingerprint
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._release.loader import load_release

from tests.unit.conftest import Write

OBJECT = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n"
RELEASE = {
    "components.yaml": "components:\n- name: a\n- name: b\n",
    "a/m.yaml": OBJECT,
    "b/m.yaml": OBJECT,
    "crds/c/m.yaml": OBJECT,
}


def test_the_fingerprint_is_the_digest_of_the_release(write: Write) -> None:
    request = ReleaseRequest(str(write(RELEASE)))
    assert load_release(request).digest == fingerprint(request)
    assert len(fingerprint(request)) == 64


def test_the_place_of_a_release_does_not_change_its_fingerprint(write: Write, tmp_path: Path) -> None:
    root = write(RELEASE)
    before = fingerprint(ReleaseRequest(str(root)))
    (tmp_path / "elsewhere").mkdir()
    moved = root.rename(tmp_path / "elsewhere" / "2.9")
    assert fingerprint(ReleaseRequest(f"{moved}/")) == before


@pytest.mark.parametrize(
    "change",
    [
        lambda root: (root / "a" / "m.yaml").write_text(OBJECT + "x: y\n"),
        lambda root: (root / "a" / "m.yaml").rename(root / "a" / "n.yaml"),
        lambda root: (root / "a" / "m.yaml").unlink(),
        lambda root: (root / "a" / "new.yaml").write_text(OBJECT),
        lambda root: (root / "release.yaml").write_text("kubernetes: '>1'"),
        lambda root: (root / "crds" / "c" / "m.yaml").write_text(OBJECT + "x: y\n"),
        lambda root: (root / "components.yaml").write_text("components:\n- name: b\n- name: a\n"),
    ],
)
def test_every_change_of_a_file_changes_it(write: Write, change: Callable[[Path], object]) -> None:
    root = write(RELEASE)
    before = fingerprint(ReleaseRequest(str(root)))
    change(root)
    assert fingerprint(ReleaseRequest(str(root))) != before


def test_content_can_not_move_between_files_unseen(write: Write) -> None:
    root = write({"components.yaml": "ab", "x": "c"})
    before = fingerprint(ReleaseRequest(str(root)))
    write({"components.yaml": "a", "x": "bc"})
    assert fingerprint(ReleaseRequest(str(root))) != before


def test_the_profile_enters_the_digest_only_where_the_record_of_the_cluster_is_known(write: Write) -> None:
    plain = ReleaseRequest(str(write(RELEASE)))
    before = fingerprint(plain)
    assert fingerprint(replace(plain, profile="production")) == before
    digests = {rendering_digest(before, profile) for profile in ("", "production", "evaluation")}
    assert len(digests) == 3


def test_everything_that_a_user_asks_for_counts(write: Write, tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("v1", "v2", "list")]
    for file in files:
        file.write_text(file.name)
    one, two, own_list = map(str, files)
    plain = ReleaseRequest(str(write(RELEASE)))
    requests = [
        plain,
        replace(plain, version="2.8"),
        replace(plain, overrides=("a.b=c",)),
        replace(plain, overrides=("a.b=c", "a.d=e")),
        replace(plain, overrides=("a.d=e", "a.b=c")),
        replace(plain, values_files=(one,)),
        replace(plain, values_files=(one, two)),
        replace(plain, values_files=(two, one)),
        replace(plain, component_list=own_list),
    ]
    assert len({fingerprint(request) for request in requests}) == len(requests)
    before = fingerprint(requests[5])
    files[0].write_text("changed")
    assert fingerprint(requests[5]) != before
    missing = [replace(plain, values_files=(str(tmp_path / "none"),)), replace(plain, component_list="/none")]
    assert not {fingerprint(request) for request in missing} & {fingerprint(one) for one in requests}


def test_git_s_own_files_do_not_count(write: Write) -> None:
    root = write(RELEASE)
    before = fingerprint(ReleaseRequest(str(root)))
    write({".git/index": "x", "a/.git/index": "y"})
    assert fingerprint(ReleaseRequest(str(root))) == before


def test_links_inside_are_followed_and_may_go_in_circles(write: Write) -> None:
    root = write(RELEASE)
    target = root / "target.txt"
    target.write_text(OBJECT)
    (root / "a" / "link.yaml").symlink_to(target)
    (root / "a" / "circle").symlink_to(root)
    (root / "a" / "dangling.yaml").symlink_to("nowhere")
    before = fingerprint(ReleaseRequest(str(root)))
    target.write_text(OBJECT + "x: y\n")
    assert fingerprint(ReleaseRequest(str(root))) != before


def test_only_conventional_files_of_a_checkout_count(write: Write) -> None:
    root = write(
        {
            "installation/resources/components.yaml": "components:\n- name: a\n",
            "resources/a/m.yaml": OBJECT,
            "docs/x.md": "words",
        }
    )
    request = ReleaseRequest(str(root))
    before = fingerprint(request)
    write({"docs/x.md": "other words"})
    assert fingerprint(request) == before
    write({"installation/resources/components.yaml": "components:\n- name: a\n  source: docs/a\n"})
    with_source = fingerprint(request)
    write({"docs/x.md": "words again"})
    assert fingerprint(request) != with_source


def test_an_archive_counts_by_its_bytes_and_a_url_by_its_checksum(write: Write, tmp_path: Path) -> None:
    root = write(RELEASE)
    archive = tmp_path / "kyma-2.9.tgz"
    with tarfile.open(archive, "w:gz") as tar:
        tar.add(root, arcname=root.name)
    local = ReleaseRequest(str(archive))
    digest = module.file_digest(archive)
    remote = ReleaseRequest("https://example.invalid/kyma-2.9.tgz", checksum=f"sha256:{digest}")
    assert fingerprint(local) == fingerprint(remote)
    assert load_release(local).digest == fingerprint(local)
    archive.write_bytes(archive.read_bytes() + b"\0")
    assert fingerprint(local) != fingerprint(remote)


def test_files_that_change_while_they_are_read_are_noticed(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = write(RELEASE)
    real = loader.open_source

    def changing(request: ReleaseRequest) -> object:
        write({"b/m.yaml": OBJECT + "x: y\n"})
        return real(request)

    monkeypatch.setattr(loader, "open_source", changing)
    with pytest.raises(ReleaseError, match="changed while they were read"):
        load_release(ReleaseRequest(str(root)))


def test_files_that_have_changed_since_the_fingerprint_are_noticed(write: Write) -> None:
    root = write(RELEASE)
    materials = ControllerMaterials(ReleaseRequest(str(root)))
    materials.fingerprint()
    write({"b/m.yaml": OBJECT + "x: y\n"})
    with pytest.raises(ReleaseError, match="changed while they were read"):
        materials.release()


def times_read(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often each file is read from now on."""
    counted: Counter[str] = Counter()
    real = module.read_digest

    def counting(file: IO[bytes]) -> str:
        counted[Path(f"/proc/self/fd/{file.fileno()}").readlink().name] += 1
        return real(file)

    monkeypatch.setattr(module, "read_digest", counting)
    return counted


def test_a_file_that_rests_is_read_once(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    request = ReleaseRequest(str(write({"components.yaml": "components:\n- name: a\n", "a/m.yaml": OBJECT})))
    monkeypatch.setattr(module, "REST_SECONDS", -60.0)
    read = times_read(monkeypatch)
    assert fingerprint(request) == load_release(request).digest
    assert read["m.yaml"] == 1


def test_a_file_that_has_just_been_changed_is_read_each_time(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = ReleaseRequest(str(write({"components.yaml": "components:\n- name: a\n", "a/m.yaml": OBJECT})))
    read = times_read(monkeypatch)
    monkeypatch.setattr(module, "REST_SECONDS", 3600.0)
    fingerprint(request)
    fingerprint(request)
    assert read["m.yaml"] == 2


def test_a_change_is_seen_in_what_rests_by_all_but_its_ctime(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = write(RELEASE)
    file = root / "a" / "m.yaml"
    monkeypatch.setattr(module, "REST_SECONDS", -60.0)
    before, state = fingerprint(ReleaseRequest(str(root))), file.stat()
    time.sleep(0.05)  # The kernel's clock for files goes in steps of some milliseconds.
    file.write_text(OBJECT.replace("name: a", "name: b"))
    os.utime(file, ns=(state.st_atime_ns, state.st_mtime_ns))
    assert (file.stat().st_size, file.stat().st_mtime_ns) == (state.st_size, state.st_mtime_ns)
    assert fingerprint(ReleaseRequest(str(root))) != before


def test_nothing_is_parsed_for_it(write: Write) -> None:
    program = (
        "import sys\n"
        f"from {module.__name__} import fingerprint\n"
        f"from {ReleaseRequest.__module__} import ReleaseRequest\n"
        "fingerprint(ReleaseRequest(sys.argv[1]))\n"
        "print([name for name in ('yaml', 'packaging', 'ansible', 'kubernetes') if name in sys.modules])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(write(RELEASE))],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": ":".join(sys.path)},
    )
    assert done.stdout.strip() == "[]"
