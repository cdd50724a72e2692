# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which way leads to a cluster and to each program, from the argument of make on."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cluster import __main__ as command_line
from tests.cluster import choice, engine, installed_programs, kind, paths, processes, provision, user_cluster
from tests.cluster.choice import GIVEN, KIND, PROCESSES, Facts, ways
from tests.cluster.errors import ClusterError
from tests.cluster.programs import KUBERNETES


@pytest.mark.parametrize(
    ("facts", "names"),
    [
        (Facts(), [PROCESSES]),
        (Facts(argument="mine"), [GIVEN, PROCESSES]),
        (Facts(exported="mine"), [PROCESSES]),
        (Facts(lacking=["etcd"]), [KIND, PROCESSES]),
        (Facts(lacking=["etcd"], why_no_kind="no container engine answers"), [PROCESSES]),
        (Facts(argument="mine", lacking=["etcd"]), [GIVEN, KIND, PROCESSES]),
    ],
)
def test_the_ways_the_shortest_first(facts: Facts, names: list[str]) -> None:
    assert [way.name for way in ways(facts)] == names


def test_each_way_says_why() -> None:
    given, on_kind, plain = ways(Facts(argument="mine", lacking=["etcd", "kwok"]))
    assert given.why == "Using the cluster of KUBECONFIG=mine: it is an argument of make."
    assert on_kind.why == "Using kind: there is no etcd, kwok here, but an engine that has kind's node image."
    assert "there is no etcd, kwok here." in plain.why
    [plain] = ways(Facts(lacking=["etcd"], why_no_kind="no container engine answers"))
    assert plain.why.endswith("there is no etcd here and no container engine answers.")
    assert "has its programs" in ways(Facts())[0].why


def test_an_exported_variable_is_not_used_and_a_line_says_so() -> None:
    line = choice.exported_line(Facts(exported="~/.kube/config"))
    assert "The exported KUBECONFIG=~/.kube/config is not used." in line
    assert choice.exported_line(Facts()) == ""
    assert choice.exported_line(Facts(argument="a", exported="b")) == ""


def test_each_program_comes_from_the_nearest_source() -> None:
    chosen = choice.sources(
        ["etcd", "kubectl", "kwok"],
        {"etcd": Path("/opt/etcd")},
        {"kubectl": "", "kwok": "no answer within 3 s"},
    )
    assert chosen.installed == {"etcd": Path("/opt/etcd")}
    assert (chosen.downloads, chosen.builds) == (["kubectl"], ["kwok"])
    assert list(chosen.lines) == [
        "Using /opt/etcd: it has the right version.",
        "Downloading kubectl: this machine doesn't have the right version.",
        "No download of kwok is possible: building from source. The reason: no answer within 3 s.",
    ]


OF_THE_SYSTEM = f"/usr/bin{os.pathsep}/bin"
"""A PATH without the programs that this checkout has built."""


def executable(file: Path, text: str) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"#!/bin/sh\n{text}\n")
    file.chmod(0o755)
    return file


@pytest.mark.parametrize(
    ("version", "pinned", "near"),
    [
        ("1.36.0", "v1.36.3", True),
        ("1.35.9", "v1.36.3", False),
        ("2.36.3", "v1.36.3", False),
        ("", "v1.36.3", False),
    ],
)
def test_a_program_may_have_another_patch(version: str, pinned: str, near: bool) -> None:
    assert installed_programs.is_near(version, pinned) is near


def test_programs_of_this_machine_are_asked_for_their_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    executable(tmp_path / "old" / "etcd", "echo etcd Version: 3.5.1")
    executable(tmp_path / "broken" / "etcd", "exit 1")
    good = executable(tmp_path / "good" / "etcd", "echo etcd Version: 3.6.1; echo Go Version: go1.24.1")
    kubectl = '[ "$*" = "version --client" ] && echo Client Version: v1.36.9'
    own = executable(tmp_path / "assets" / "kubectl", kubectl)
    path = os.pathsep.join(str(tmp_path / name) for name in ("old", "broken", "good"))
    monkeypatch.setenv("PATH", f"{path}{os.pathsep}{OF_THE_SYSTEM}")
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(tmp_path / "assets"))
    assert installed_programs.find("etcd", "v3.6.8") == good
    assert installed_programs.find("kubectl", "v1.36.3") == own
    assert installed_programs.find("kubectl", "v1.99.3") is None


def test_our_own_programs_are_not_found_on_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    executable(tmp_path / "etcd", "echo etcd Version: 3.6.1")
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{OF_THE_SYSTEM}")
    monkeypatch.delenv("KUBEBUILDER_ASSETS", raising=False)
    assert installed_programs.find("etcd", "v3.6.8") == tmp_path / "etcd"
    monkeypatch.setattr(paths, "BIN", tmp_path)
    assert installed_programs.find("etcd", "v3.6.8") is None


def test_a_program_of_this_machine_is_used_until_its_version_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paths, "BUILD", tmp_path)
    monkeypatch.setattr(paths, "BIN", tmp_path / "bin")
    monkeypatch.setattr(provision.build, "STAMPS", tmp_path / "stamps")
    program = executable(tmp_path / "elsewhere" / "etcd", "echo etcd Version: 3.6.1")
    monkeypatch.setenv("PATH", OF_THE_SYSTEM)
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(program.parent))
    provision.provide((KUBERNETES,), only=("etcd",))
    assert (paths.BIN / "etcd").resolve() == program
    assert provision.lacking((KUBERNETES,), ("etcd",)) == []
    executable(program, "echo etcd Version: 3.7.0")
    assert provision.lacking((KUBERNETES,), ("etcd",)) == ["etcd"]


def engine_of(folder: Path, name: str, image: str) -> None:
    """An engine that answers and has one image."""
    has = f'[ "$1 $2" = "image inspect" ] && [ "$3" = "{image}" ]'
    executable(folder / name, f'[ "$1" = version ] && exit 0\n{has}')


def test_kind_needs_an_engine_that_has_its_node_image(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine.packages, "SEARCH_PATH", str(tmp_path))
    assert kind.why_not_at_hand() == "no container engine answers"
    engine_of(tmp_path, "docker", "another")
    assert kind.why_not_at_hand() == f"docker doesn't have the image {kind.IMAGE}"
    engine_of(tmp_path, "podman", kind.IMAGE)
    assert kind.why_not_at_hand() == ""
    assert engine.with_image(kind.IMAGE) == (engine.PODMAN, "")
    engine_of(tmp_path, "docker", kind.IMAGE)
    assert engine.with_image(kind.IMAGE) == (engine.Engine(ours=False), "")


def test_the_node_image_is_that_of_the_pinned_kind(kind_program: str) -> None:
    assert kind.IMAGE.encode() in Path(kind_program).read_bytes()


@pytest.fixture
def taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The ways that are taken, of which all are played."""
    done: list[str] = []
    monkeypatch.setattr(paths, "GIVEN", tmp_path / "given")
    monkeypatch.setattr(paths, "KUBECONFIG", tmp_path / "kubeconfig")
    monkeypatch.setattr(user_cluster, "up", lambda kubeconfig: done.append(f"{GIVEN} {kubeconfig}"))
    monkeypatch.setattr(kind, "up_at_hand", lambda: done.append(KIND))
    monkeypatch.setattr(processes, "up", lambda: done.append(PROCESSES))
    monkeypatch.setattr(kind, "why_not_at_hand", lambda: "")
    monkeypatch.setattr(provision, "lacking", lambda _modules, _only: ["etcd"])
    monkeypatch.setenv("KYMA_CLUSTER_DIR", str(tmp_path))
    monkeypatch.setattr(paths, "STATE", tmp_path)
    return done


def failing(reason: str) -> Callable[..., None]:
    def fail(*_arguments: str) -> None:
        raise ClusterError(reason)

    return fail


def test_the_shortest_way_is_taken(taken: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KUBECONFIG", raising=False)
    assert command_line.main(["up", "--kubeconfig", "mine"]) == 0
    paths.GIVEN.write_text("mine")
    assert command_line.main(["up"]) == 0
    assert taken == [f"{GIVEN} mine", KIND]
    assert not paths.GIVEN.exists()


def test_the_next_way_is_taken_where_one_fails(
    taken: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(user_cluster, "up", failing("It doesn't answer."))
    monkeypatch.setattr(kind, "up_at_hand", failing("The node doesn't start."))
    assert command_line.main(["up", "--kubeconfig", "mine"]) == 0
    assert taken == [PROCESSES]
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("Using the cluster of KUBECONFIG=mine: ")
    assert lines[1] == "That failed, so the next way is taken. It doesn't answer."
    monkeypatch.setattr(processes, "up", failing("Nothing works."))
    assert command_line.main(["up", "--kubeconfig", "mine"]) == 1
    assert capsys.readouterr().err == "Nothing works.\n"


def test_an_exported_cluster_is_never_used(
    taken: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("KUBECONFIG", "/of/the/user")
    assert command_line.main(["up"]) == 0
    assert taken == [KIND]
    assert capsys.readouterr().out.startswith("The exported KUBECONFIG=/of/the/user is not used.")
    monkeypatch.setenv("KUBECONFIG", str(paths.KUBECONFIG))
    assert command_line.main(["up"]) == 0
    assert "not used" not in capsys.readouterr().out


def test_tests_get_a_control_plane_of_their_own(taken: list[str]) -> None:
    paths.GIVEN.write_text("/of/the/user")
    paths.KUBECONFIG.write_text("of the user")
    assert command_line.main(["up", "--provider", "processes"]) == 0
    assert taken == [PROCESSES]
    assert not paths.KUBECONFIG.exists()


@pytest.mark.usefixtures("taken")
def test_down_only_forgets_the_users_cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    users = tmp_path / "of-the-user"
    users.write_text("the original")
    monkeypatch.setattr(kind, "down", lambda: None)
    monkeypatch.setattr(processes, "down", lambda: None)
    paths.GIVEN.write_text(str(users))
    paths.KUBECONFIG.write_text("the copy")
    assert command_line.main(["down"]) == 0
    assert not paths.KUBECONFIG.exists()
    assert not paths.GIVEN.exists()
    assert users.read_text() == "the original"


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (["demo", "KUBECONFIG=it's mine"], "demo --kubeconfig it's mine"),
        (["cluster", "KUBECONFIG=it's mine"], "cluster --kubeconfig it's mine"),
        (["demo"], "demo"),
        (["test", "KUBECONFIG=mine"], "test"),
    ],
)
def test_only_an_argument_of_make_counts(tmp_path: Path, command: list[str], expected: str) -> None:
    shutil.copy(paths.ROOT / "Makefile", tmp_path)
    executable(tmp_path / "tests" / "make" / "start", 'echo "$@"')
    done = subprocess.run(
        ["make", *command],
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"], "KUBECONFIG": "exported"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == f"{expected}\n", done.stderr
