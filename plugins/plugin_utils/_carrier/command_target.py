# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Completes the commands in messages with the cluster of their task: pure.

Messages, and records in the cluster, contain plain commands, each on a separate line or in backticks.
With the current context of another shell, a plain command would read or change another cluster.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from .screen.terminal import changed_warning

_COMMAND = re.compile(
    r"(?P<before>`|^[ \t]*)"
    r"(?P<command>(?:(?:kubectl|flux) (?=[a-z-])|ansible-playbook (?=kyma\.lifecycle\.)|ansible (?=\S+ -m ))"
    r"[^`\n]+)"
    r"(?=`|$)",
    re.MULTILINE,
)
_KUBERNETES_CLIENTS = ("kubectl", "flux")
"""Programs with the options ``--kubeconfig`` and ``--context``."""
_TEXTS = ("msg", "message", "note", "warnings", "failures", "blockers", "problems", "summary")
"""The keys of a result or a recorded run with texts for people. Others have users' objects, which stay."""
_BARE_TEXT = "log_command"
"""The key of a command that a playbook may run, so that no sentence may follow it."""
_COMPLETED = ("--context ", "--kubeconfig ", "--limit ", "kubeconfig=", "context=")
PLACEHOLDER = "CONTEXT"
"""A context that does not exist, so that a command does nothing before a person has replaced it."""


def with_whole_commands(
    result: Mapping[str, Any], read_target: Callable[[], CommandTarget]
) -> dict[str, Any]:
    """The result of a task with commands that reach its cluster from any shell.

    Args:
        result: of the task.
        read_target: reads what they need; called only if there is a command.
    """
    return read_target().complete_result(result) if has_command(_texts_of(result)) else dict(result)


def has_command(value: Any) -> bool:
    """Whether a text, or one in a list or a dictionary, has a command to complete."""
    if isinstance(value, Mapping):
        return has_command(list(value.values()))
    if isinstance(value, list):
        return any(map(has_command, value))
    return _COMMAND.search(getattr(getattr(value, "event", None), "msg", None) or str(value)) is not None


def _texts_of(result: Mapping[str, Any]) -> list[Any]:
    """The texts of a result, and of the recorded runs in it, in which commands are completed."""
    runs = result.get("runs") or ()
    own = [result[key] for key in (*_TEXTS, _BARE_TEXT) if key in result]
    return own + [text for run in runs if isinstance(run, Mapping) for text in _texts_of(run)]


@dataclass(frozen=True)
class CommandTarget:
    """What a command needs, so that it reaches one cluster from any shell.

    Attributes:
        kubeconfig: its path, or paths separated as in PATH; empty for the default one.
        context: in the kubeconfig; empty if none is known.
        host: of the inventory; empty if the inventory does not have it.
        inventory: the inventories of the playbook.
        variables: of the host, if the inventory does not have them.
        is_local: whether Ansible works on this machine, and not on the host.
        note: what a person has to know before using a command; empty for nothing.
    """

    kubeconfig: str = ""
    context: str = ""
    host: str = ""
    inventory: tuple[str, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict)
    is_local: bool = True
    note: str = ""

    def complete_result(self, result: Mapping[str, Any]) -> dict[str, Any]:
        """A result, or a recorded run, with complete commands in its texts."""
        whole = {key: self.complete(one) if key in _TEXTS else one for key, one in result.items()}
        if _BARE_TEXT in whole:
            whole[_BARE_TEXT] = replace(self, note="").complete(whole[_BARE_TEXT])
        if isinstance(runs := whole.get("runs"), list):
            whole["runs"] = [self.complete_result(run) if isinstance(run, Mapping) else run for run in runs]
        return whole

    def complete(self, value: Any) -> Any:
        """A text with complete commands; of a list or a dictionary, its texts."""
        if isinstance(value, Mapping):
            return {key: self.complete(one) for key, one in value.items()}
        if isinstance(value, list):
            return [self.complete(one) for one in value]
        if isinstance(value, str) or hasattr(value, "event"):
            return changed_warning(value, self._completed_text)
        return value

    def _completed_text(self, text: str) -> str:
        completed = _COMMAND.sub(lambda match: match["before"] + self._complete(match["command"]), text)
        # On another host a command may need no option, and yet must not be used on this machine.
        is_noted = self.note and self.note not in text and _COMMAND.search(text)
        return f"{completed}\n({self.note})" if is_noted else completed

    def _complete(self, command: str) -> str:
        if any(option in command for option in _COMPLETED):
            return command
        program, rest = command.split(" ", 1)
        if program in _KUBERNETES_CLIENTS:
            return self._with_context(program, rest)
        if program == "ansible-playbook":
            limit = ["--limit", self.host] if self.host else []
            return " ".join([command, *map(shlex.quote, [*self._inventories, *limit, *self._extra])])
        try:
            return self._ad_hoc(shlex.split(rest))
        except (ValueError, IndexError):
            # Text of others that only looks like a command, such as a line of a log.
            return command

    def _with_context(self, program: str, rest: str) -> str:
        several = ":" in self.kubeconfig
        options = {"kubeconfig": "" if several else self.kubeconfig, "context": self.context}
        words = [f"--{name} {shlex.quote(value)}" for name, value in options.items() if value]
        # These programs take several files only from the environment.
        start = [f"KUBECONFIG={shlex.quote(self.kubeconfig)}"] if several else []
        return " ".join([*start, program, *words, rest])

    def _ad_hoc(self, words: list[str]) -> str:
        pattern, *rest = words
        options = {"kubeconfig": self.kubeconfig, "context": self.context}
        given = " ".join(f"{name}={shlex.quote(value)}" for name, value in options.items() if value)
        is_own = rest[rest.index("-m") + 1].startswith("kyma.lifecycle.")
        if is_own and given:
            arguments = [rest[rest.index("-a") + 1]] if "-a" in rest else []
            rest = [*rest[: rest.index("-m") + 2], "-a", " ".join([*arguments, given])]
        if not (is_own and self.is_local):
            # A role takes the variables of its host.
            local = ["-c", "local"] if self.is_local else []
            pattern = self.host or "localhost"
            rest = [*self._inventories, *local, *rest, *([] if is_own else self._extra)]
        return shlex.join(["ansible", pattern, *rest])

    @property
    def _inventories(self) -> list[str]:
        return [word for one in self.inventory for word in ("-i", one)] if self.host else []

    @property
    def _extra(self) -> list[str]:
        return [
            word for name, value in self.variables.items() for word in ("-e", _extra_variable(name, value))
        ]


def _extra_variable(name: str, value: str) -> str:
    quoted = shlex.quote(value)
    return f"{name}={value}" if quoted == value else f"{name}={quoted}"
