# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The pods that a text of ``explanation.py`` names: pure.

Records have only the text, so the pod is read from there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_NAMED = re.compile(
    r"\b(?P<kind>[A-Z]\w+) (?P<namespace>[a-z0-9-]+)/(?P<name>[a-z0-9][\w.-]*): "
    r"|; pod (?P<pod>[a-z0-9][a-z0-9.-]*)(?:, container (?P<container>[a-z0-9-]+))?: (?P<why>[^;]*)"
)
"""An object with its namespace, or a pod of the last such object."""
_LETTER = "[b-df-hj-np-tv-xz24-9]"
"""Of the alphabet from which Kubernetes makes names."""
_RANDOM = re.compile(rf"(\bpod [a-z0-9.-]+?)(?:-{_LETTER}{{6,10}})?-{_LETTER}{{5}}(?=[:, ])")
"""A pod with the hash of its ReplicaSet and its own letters."""
_WORKLOAD = re.compile(
    r"\b[A-Z]\w+ (?P<namespace>[a-z0-9-]+)/[a-z0-9][\w.-]*: [^;]*; "
    r"pod (?P<pod>[a-z0-9][a-z0-9.-]*)(?:, container [a-z0-9-]+)?: "
)
"""An object with what it says of itself, and its pod."""
_RESTARTS = re.compile(r"\d+ restarts")


def without_random_names(text: str) -> str:
    """A text that is equal for pods of the same workload, on all clusters and after further restarts."""
    return _RESTARTS.sub("restarts", _RANDOM.sub(r"\1", text))


def cause_in(text: str) -> str:
    """What a text says of the first pod that it names besides its workload; the whole text without one."""
    named = next((one for one in _NAMED.finditer(text) if one["pod"]), None)
    return text[named.start("why") :] if named else text


def brief_failure(text: str) -> str:
    """The cause in a text after what stands before its first object, such as how long a run has waited."""
    first = next(_NAMED.finditer(text), None)
    before = text[: first.start()] if first and first["kind"] else ""
    return f"{before}{cause}" if (cause := cause_in(text)) != text else text


def in_short(text: str) -> str:
    """A text without what a workload says of itself where its pod says why, for the screen."""
    return _WORKLOAD.sub(r"pod \g<namespace>/\g<pod>: ", text)


def pod_commands(text: str) -> list[tuple[str, list[str]]]:
    """Each pod in a text, as its namespace and its name, with commands that show why it is not ready.

    Args:
        text: of a failure.
    """
    namespace, commands = "", {}
    for one in _NAMED.finditer(text):
        namespace = one["namespace"] or namespace
        name = one["pod"] or (one["name"] if one["kind"] == "Pod" else "")
        if namespace and name:
            commands[f"{namespace}/{name}"] = list(_commands(namespace, name, one))
    return list(commands.items())


def _commands(namespace: str, name: str, named: re.Match[str]) -> Iterator[str]:
    yield f"kubectl -n {namespace} describe pod {name}"
    if not named["container"]:
        return
    log = f"kubectl -n {namespace} logs {name} -c {named['container']}"
    if named["why"].startswith("CrashLoopBackOff"):
        yield f"{log} --previous"
    elif named["why"].startswith(("ended with", "it runs")):
        yield log
