# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Commands in messages work when they are pasted, and only on the cluster that the message is about."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import pytest
from ansible.parsing.splitter import parse_kv
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.cluster_hold import (
    Hold,
    hold_problem,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._carrier.command_target import (
    CommandTarget,
    has_command,
    with_whole_commands,
)

from tests.cluster.paths import ROOT

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
COMMAND = re.compile(r"\b(?:kubectl|flux|ansible|ansible-playbook)(?: [-a-zA-Z]|\{)[^`\n]*")
"""What looks like a command in a text."""
INTERPOLATED = re.compile(r"COMMAND$|\bcommand$|\.deletion$|log_command\(")
"""Names of commands that texts have in braces."""
PROSE = re.compile(
    r"ansible-playbook (was asked to stop|has ended in the middle|ended before )"
    r"|run kubectl on \{elsewhere\}, as its kubeconfig is there"
)
"""Texts that name a program, without a command to paste."""
EU = CommandTarget("/home/me/eu.yaml", "eu", "eu-1", ("/home/me/hosts.yml",))
DEFAULT = CommandTarget("", "eu", "eu-1", ("/home/me/hosts.yml",))
UNKNOWN = CommandTarget("", "CONTEXT", variables={"kyma_context": "CONTEXT"}, note="replace CONTEXT")


def _text(node: ast.AST) -> str:
    """A text of the code. A command in braces is replaced by another one, other values by their code."""
    if isinstance(node, ast.JoinedStr):
        return "".join(map(_text, node.values))
    if isinstance(node, ast.FormattedValue):
        code = ast.unparse(node.value)
        return "kubectl get it" if INTERPOLATED.search(code) else f"{{{code}}}"
    return str(node.value) if isinstance(node, ast.Constant) else ""


def _texts() -> Iterator[str]:
    for folder in ("module_utils", "plugin_utils", "action"):
        for file in sorted((ROOT / "plugins" / folder).rglob("*.py")):
            tree = ast.parse(file.read_text())
            nodes = list(ast.walk(tree))
            joined = [node for node in nodes if isinstance(node, ast.JoinedStr)]
            skipped = {id(one) for node in joined for one in node.values}
            skipped |= {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
            yield from (
                _text(node)
                for node in nodes
                if isinstance(node, ast.JoinedStr | ast.Constant) and id(node) not in skipped
            )


HINTS = sorted({text for text in _texts() if COMMAND.search(PROSE.sub("", text))})


def _problem(command: str, target: CommandTarget) -> str:
    """Why a command would not reach the target; empty if it does."""
    words = shlex.split(command.replace("{", "").replace("}", ""))
    program = next(word for word in words if "=" not in word)
    if program in ("kubectl", "flux"):
        expected = {"--context": target.context, "--kubeconfig": target.kubeconfig}
    elif program == "ansible-playbook" or "ansible.builtin.include_role" in words:
        playbook = {"--limit": target.host} if program == "ansible-playbook" else {}
        expected = {**playbook, "-i": "".join(target.inventory)}
        variables = {words[place + 1] for place, word in enumerate(words) if word == "-e"}
        if not variables >= {f"{name}={value}" for name, value in target.variables.items()}:
            return command
        if not playbook and words[1] != (target.host or "localhost"):
            return command
    else:
        options = parse_kv(words[words.index("-a") + 1])
        expected = {}
        if (options.get("context"), options.get("kubeconfig", "")) != (target.context, target.kubeconfig):
            return command
    values = {name: words[words.index(name) + 1] if name in words else "" for name in expected}
    return "" if values == expected else command


@pytest.mark.parametrize("target", [EU, DEFAULT, UNKNOWN], ids=["kubeconfig", "context", "unknown"])
@pytest.mark.parametrize("hint", HINTS)
def test_each_command_in_a_message_reaches_the_cluster_of_its_task(hint: str, target: CommandTarget) -> None:
    assert has_command(hint)
    completed = target.complete(hint)
    commands = COMMAND.findall(PROSE.sub("", completed))
    assert len(commands) == len(COMMAND.findall(PROSE.sub("", hint))) > 0
    assert [problem for command in commands if (problem := _problem(command, target))] == []
    assert completed.endswith("\n(replace CONTEXT)") == (target is UNKNOWN)


def test_the_messages_have_such_commands() -> None:
    assert len(HINTS) > 20


@pytest.mark.parametrize("text", ["`kubectl get it`", "Read it:\n  kubectl get it\nThen go on."])
def test_a_command_is_in_backticks_or_on_a_line_of_its_own(text: str) -> None:
    assert EU.complete(text) == text.replace(
        "kubectl get it", "kubectl --kubeconfig /home/me/eu.yaml --context eu get it"
    )


def test_other_texts_stay() -> None:
    text = "the kubectl get it of ansible-playbook was asked to stop"
    assert not has_command(text)
    assert EU.complete(text) == UNKNOWN.complete(text) == text


@pytest.mark.parametrize(
    "rest", ["eu -m shell -a 'df -h", "eu -m ", "eu -m kyma.lifecycle.hold -a", "'x -m y'"]
)
def test_text_of_others_that_only_looks_like_a_command_stays(rest: str) -> None:
    text = f"the cluster is held: wait for `ansible {rest}`"
    assert EU.complete(text) == text


def test_a_complete_command_stays() -> None:
    for text in (
        f"{hold_problem(Hold('alice'), NOW)}",
        "`kubectl get it`",
        "ansible-playbook kyma.lifecycle.x",
    ):
        completed = EU.complete(text)
        assert EU.complete(completed) == completed != text


def test_an_ad_hoc_command_runs_on_this_machine_with_the_cluster_in_its_options() -> None:
    problem = hold_problem(Hold("alice"), NOW)
    assert (
        "`ansible localhost -m kyma.lifecycle.hold -a 'state=absent kubeconfig=/home/me/eu.yaml context=eu'`"
        in EU.complete(problem)
    )


def test_an_ad_hoc_command_without_options_gets_them() -> None:
    command = "`ansible localhost -m kyma.lifecycle.run_info`"
    assert DEFAULT.complete(command) == "`ansible localhost -m kyma.lifecycle.run_info -a context=eu`"


def test_an_ad_hoc_command_runs_on_the_host_where_the_task_ran() -> None:
    bastion = replace(DEFAULT, is_local=False, note="run kubectl on eu-1")
    assert bastion.complete("ansible localhost -m kyma.lifecycle.hold -a state=absent") == (
        "ansible eu-1 -i /home/me/hosts.yml -m kyma.lifecycle.hold -a 'state=absent context=eu'"
        "\n(run kubectl on eu-1)"
    )


def test_a_role_gets_the_variables_that_the_inventory_does_not_have() -> None:
    target = replace(DEFAULT, variables={"kyma_context": "my eu"})
    command = "ansible HOST -m ansible.builtin.include_role -a name=x"
    words = shlex.split(target.complete(command))
    assert words[:6] == ["ansible", "eu-1", "-i", "/home/me/hosts.yml", "-c", "local"]
    assert parse_kv(words[-1]) == {"kyma_context": "my eu"}


def test_without_an_inventory_a_playbook_has_no_limit() -> None:
    target = CommandTarget("", "eu", inventory=("/etc/ansible/hosts",), variables={"kyma_context": "eu"})
    command = "ansible-playbook kyma.lifecycle.cancel_kyma"
    assert target.complete(command) == f"{command} -e kyma_context=eu"


def test_names_with_special_characters_are_one_word_for_the_shell() -> None:
    target = CommandTarget("/my files/it's", "a b")
    words = shlex.split(target.complete("kubectl get it"))
    assert words == ["kubectl", "--kubeconfig", "/my files/it's", "--context", "a b", "get", "it"]


def test_several_kubeconfigs_reach_kubectl_by_the_environment() -> None:
    target = CommandTarget("/a:/b", "eu")
    assert target.complete("kubectl get it") == "KUBECONFIG=/a:/b kubectl --context eu get it"


@dataclass(frozen=True)
class Event:
    """Of a warning of a shipped module."""

    msg: str


@dataclass(frozen=True)
class Warned:
    """A warning of a shipped module, as Ansible makes it."""

    event: Event


def test_all_texts_of_a_result_are_completed_and_objects_stay() -> None:
    plain: dict[str, Any] = {
        "msg": "`kubectl get it`",
        "warnings": [Warned(Event("`kubectl get it`"))],
        "failures": ["`kubectl get it`"],
        "diff": {"after": "`kubectl get it`"},
    }
    whole = "`kubectl --context eu get it`"
    assert has_command(plain["warnings"])
    assert with_whole_commands(plain, lambda: DEFAULT) == {
        **plain,
        "msg": whole,
        "warnings": [Warned(Event(whole))],
        "failures": [whole],
    }


def test_a_command_for_a_playbook_has_no_note() -> None:
    result = UNKNOWN.complete_result({"msg": "kubectl get it", "log_command": "kubectl logs it"})
    assert result == {
        "msg": "kubectl --context CONTEXT get it\n(replace CONTEXT)",
        "log_command": "kubectl --context CONTEXT logs it",
    }


def test_recorded_runs_get_whole_commands_and_keep_the_objects_of_users() -> None:
    run = {
        "failures": ["see `kubectl get it`"],
        "message": "see `kubectl get it`",
        "components": ["kubectl get"],
    }
    read = with_whole_commands({"runs": [run]}, lambda: DEFAULT)
    whole = "see `kubectl --context eu get it`"
    assert read == {"runs": [{"failures": [whole], "message": whole, "components": ["kubectl get"]}]}


def test_without_a_command_the_target_is_not_read() -> None:
    assert with_whole_commands({"msg": "it failed"}, lambda: pytest.fail("was read")) == {"msg": "it failed"}
