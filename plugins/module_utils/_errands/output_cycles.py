# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Errands that read the output of one another in a circle: pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from .._jobs.versioned_secrets import split_versioned_name
from .errand_model import Errand, OutputFile


def cycle_through(errand: Errand, readers_of: Callable[[Errand], Iterable[Errand]]) -> tuple[str, ...]:
    """The shortest circle of errands that would run one another for ever.

    Args:
        errand: the first of the circle.
        readers_of: returns the errands that read the output of an errand.

    Returns:
        Names of errands: the output of each is read by the next, and that of the last by the first. All run
        again if their configuration changes. Empty if there is no such circle.
    """
    paths: list[tuple[Errand, ...]] = [(errand,)] if errand.spec.reruns_on_change else []
    seen: set[str] = set()
    while paths:
        longer_paths = []
        for path in paths:
            for reader in readers_of(path[-1]) if path[-1].spec.output.files else ():
                if reader.key == errand.key:
                    return tuple(one.key.name for one in path)
                if reader.spec.reruns_on_change and reader.key.name not in seen:
                    seen.add(reader.key.name)
                    longer_paths.append((*path, reader))
        paths = longer_paths
    return ()


def is_written_by(secret: str, file: OutputFile) -> bool:
    """Whether an output file becomes a Secret, or another version of it.

    Args:
        secret: the name of a Secret, as a template refers to it.
        file: of an errand of the same namespace.
    """
    if file.is_versioned:
        split = split_versioned_name(secret)
        secret = split[0] if split else ""
    return secret.startswith(f"{file.secret}-") if file.is_fan_out else secret == file.secret
