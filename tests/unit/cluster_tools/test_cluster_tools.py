# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What of the Kubernetes to test on can be tried without one."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cluster import (
    command,
    daemon,
    golang,
    kwokfiles,
    leftovers,
    limitedruntime,
    ociarchive,
    paths,
)
from tests.cluster.programs import (
    ALWAYS,
    CONTROL_PLANE,
    HELM,
    KIND,
    KUBERNETES,
    OLDEST_HELM,
    OLDEST_KUBERNETES,
)
from tests.cluster.state import State


@pytest.mark.parametrize(
    ("version", "enough"),
    [
        ("go1.26.6", True),
        ("go1.27rc1", True),
        ("go2.0", True),
        ("go1.26.5", False),
        ("", False),
        ("devel", False),
    ],
)
def test_go_must_be_new_enough(version: str, enough: bool) -> None:
    assert golang.is_new_enough(version) is enough


def test_programs_say_the_version_that_is_pinned() -> None:
    version = KUBERNETES.version("k8s.io/kubernetes")
    assert f"-X k8s.io/component-base/version.gitVersion={version}" in KUBERNETES.linker_flags()
    assert f"-X k8s.io/component-base/version.gitMinor={version.split('.')[1]} " in KUBERNETES.linker_flags()


def test_each_program_has_the_version_of_its_module() -> None:
    kubernetes = KUBERNETES.version("k8s.io/kubernetes")
    assert KUBERNETES.version_of("kubelet") == kubernetes
    assert KUBERNETES.version_of("etcd") == KUBERNETES.version("go.etcd.io/etcd/server/v3")
    assert KUBERNETES.version_of("kwok") == KUBERNETES.version("sigs.k8s.io/kwok")
    assert HELM.version_of("helm").startswith("v4.")
    assert KIND.version_of("kind").startswith("v0.")


def test_every_program_is_a_tool_of_its_module() -> None:
    for module in (*ALWAYS, OLDEST_KUBERNETES, OLDEST_HELM):
        text = (module.folder / "go.mod").read_text(encoding="utf-8")
        assert all(package in text for package in module.packages.values())


@pytest.mark.parametrize(
    ("versions", "selected"),
    [
        ("newest", ["bin", "kubernetes", "helm", "kind"]),
        ("oldest", ["bin-oldest", "kubernetes-oldest", "helm-oldest"]),
    ],
)
def test_one_variable_selects_the_versions(versions: str, selected: list[str]) -> None:
    code = (
        "from tests.cluster import paths, programs as p; print(paths.BIN.name, *(m.name for m in p.ALWAYS))"
    )
    environment = {**os.environ, paths.VERSIONS: versions}
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=paths.ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == selected


def test_the_oldest_programs_are_those_that_differ_between_versions() -> None:
    shared = {"etcd", "kwok"}
    assert {*OLDEST_KUBERNETES.packages, *shared} == set(CONTROL_PLANE)
    assert OLDEST_HELM.packages.keys() == HELM.packages.keys()


def test_kwoks_stages_leave_bad_images_to_ours_and_can_be_delayed() -> None:
    stage: dict[str, Any] = {
        "metadata": {"name": "pod-ready"},
        "spec": {"selector": {"matchExpressions": [{"key": "a"}]}},
    }
    spec = kwokfiles.adapted(stage)["spec"]
    assert spec["selector"]["matchExpressions"][0] == {"key": "a"}
    assert len(spec["selector"]["matchExpressions"]) == 1 + len(kwokfiles.BAD_REGISTRIES)
    assert "kyma.local/ready-after" in spec["delay"]["durationFrom"]["expressionFrom"]
    assert "delay" not in stage["spec"]


def test_every_bad_registry_has_a_stage() -> None:
    stages = [yaml.safe_load(file.read_text(encoding="utf-8")) for file in paths.STAGES.glob("*.yaml")]
    for registry in kwokfiles.BAD_REGISTRIES:
        assert any(registry in stage["spec"]["next"]["statusTemplate"] + str(stage) for stage in stages)


def test_the_limited_runtime_asks_for_nothing_that_is_withheld() -> None:
    process: dict[str, Any] = {
        "capabilities": {"bounding": ["CAP_CHOWN", "CAP_SYS_RESOURCE"], "effective": ["CAP_SYS_RESOURCE"]},
        "rlimits": [{"type": "RLIMIT_NOFILE"}],
        "oomScoreAdj": -999,
        "args": ["sh"],
    }
    limitedruntime.relax(process)
    assert process == {"capabilities": {"bounding": ["CAP_CHOWN"], "effective": []}, "args": ["sh"]}


def test_an_image_archive_is_whole(tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_bytes(b"content")
    target = tmp_path / "image.tar"
    ociarchive.write(
        target, ["a/b:1", "a/c:1"], {"usr/bin/program": program}, ["/usr/bin/program"], {"bin/p": "/x"}
    )
    with tarfile.open(target) as archive:
        files = {entry.name: archive.extractfile(entry).read() for entry in archive}
    index = json.loads(files["index.json"])
    assert [each["annotations"]["io.containerd.image.name"] for each in index["manifests"]] == [
        "a/b:1",
        "a/c:1",
    ]
    manifest = json.loads(files[_blob(index["manifests"][0]["digest"])])
    for descriptor in (index["manifests"][0], manifest["config"], *manifest["layers"]):
        content = files[_blob(descriptor["digest"])]
        assert len(content) == descriptor["size"]
        assert f"sha256:{hashlib.sha256(content).hexdigest()}" == descriptor["digest"]


def test_mounts_are_found_the_innermost_first(tmp_path: Path) -> None:
    table = tmp_path / "mounts"
    table.write_text("a /x ext4 rw 0 0\nb /x/y ext4 rw 0 0\nc /x/y/z\\0401 ext4 rw 0 0\nd /xy ext4 rw 0 0\n")
    assert leftovers.mounts_below(Path("/x/y"), table) == ["/x/y/z 1", "/x/y"]


def test_only_bridges_of_our_own_network_are_taken_away() -> None:
    interfaces: list[dict[str, object]] = [
        {"ifname": "br-1", "addr_info": [{"local": "10.164.0.1"}]},
        {"ifname": "br-2", "addr_info": [{"local": "172.18.0.1"}, {"local": "fe80::1"}]},
        {"ifname": "br-3"},
    ]
    assert leftovers.bridges_of("10.164.0.0/16", interfaces) == ["br-1"]


def test_a_daemon_is_started_known_and_ended(tmp_path: Path) -> None:
    state = State(tmp_path / "state.json")
    command = [sys.executable, "-c", "import time; print('here', flush=True); time.sleep(60)"]
    state.add(daemon.start("sleeper", command, tmp_path / "log"))
    again = State.read(tmp_path / "state.json")
    assert again.all_alive()
    daemon.stop_all(again.daemons)
    assert not again.all_alive()


def test_a_number_that_another_process_got_is_not_ours() -> None:
    assert not daemon.Daemon("other", 1, "not then").alive()


def _blob(digest: str) -> str:
    return "blobs/sha256/" + digest.removeprefix("sha256:")


def test_kubectl_keeps_its_cache_with_the_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    ask = [sys.executable, "-c", "import os; print(os.environ['KUBECACHEDIR'], end='')"]
    monkeypatch.delenv("KUBECACHEDIR", raising=False)
    assert command.output(ask) == str(paths.STATE / "kube-cache")
    monkeypatch.setenv("KUBECACHEDIR", "/of/the/user")
    assert command.output(ask) == "/of/the/user"
