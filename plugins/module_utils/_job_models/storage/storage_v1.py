# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Version 1 of the storage: one shell line with its redirections. It is only read, never written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..command_lines import split_shell_line
from ..core_job import LogFiles
from .shared_fields import SharedFields
from .storage_v2 import StorageV2
from .stored_fields import Text, Texts, stored


@dataclass(frozen=True)
class StorageV1(SharedFields):
    """The fields that a ``spec`` of version 1 sets; None for the others."""

    cmd: str | None = stored("cmd", Text())
    env: Mapping[str, str] | None = stored("env", Texts())
    memory: str | None = stored("memory", Text())
    cpu: str | None = stored("cpu", Text())
    health_script: str | None = stored("healthScript", Text())

    def to_v2(self) -> StorageV2:
        """The same in version 2."""
        values = dict(vars(self))
        line = values.pop("cmd")
        if line is None:
            return StorageV2(**values)
        command, logs = _split(line)
        files = {name: file for name, file in vars(logs).items() if file}
        return StorageV2(**values, command=command, logs=files or None)


def _split(line: str) -> tuple[str, LogFiles]:
    """The command and its log files. A line that first empties the files stays whole, as we only append."""
    command, logs = split_shell_line(line)
    redirections = line.removeprefix(command) if line.startswith(command) else line.removesuffix(command)
    return (line, LogFiles()) if ">" in redirections.replace(">>", "") else (command, logs)
