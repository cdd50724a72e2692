# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The commands of script health checks: pure.

Toolforge runs a script by ``/bin/sh -c``, as we do. Earlier releases of ours added ``--``, which means the
same unless the script begins like an option.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..._cluster.cluster import Object
from ..._cluster.pod_templates import pod_template
from ..._deep_copy import deep_copy
from ..._loose_json import fields_at, items_at, text_of
from ..json_digest import json_digest

SHELL = ("/bin/sh", "-c", "--")
"""The start of a container's command, before the shell line."""
_PROBES = ("startupProbe", "livenessProbe")


def script_command(script: str) -> list[str]:
    """The command that runs a script."""
    return [*SHELL, script] if script.startswith(("-", "+")) else [*SHELL[:2], script]


def script_of(command: Any) -> str:
    """The script that a command runs, in either form; empty if it is another command."""
    script = text_of(command[-1]) if isinstance(command, list) and command else ""
    return script if command in (script_command(script), [*SHELL, script]) else ""


def reduce_probes(container: Object) -> None:
    """Change the commands of a container's health checks to the form of :func:`script_command`."""
    for action, script in _script_actions(container):
        action["command"] = script_command(script)


def is_digest_of(digest: str, obj: Mapping[str, Any]) -> bool:
    """Whether a digest is that of an intended object, as we build it or as earlier releases built it."""
    if digest == json_digest(obj):
        return True
    earlier = deep_copy(obj)
    for container in items_at(pod_template(earlier), "spec", "containers"):
        for action, script in _script_actions(container):
            action["command"] = [*SHELL, script]
    return digest == json_digest(earlier)


def _script_actions(container: Object) -> Iterator[tuple[Object, str]]:
    for probe in _PROBES:
        action = fields_at(container, probe, "exec")
        if script := script_of(action.get("command")):
            yield action, script
