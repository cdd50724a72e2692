# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How much of the controller a release or a module may use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from .._errors import LifecycleError

MEGABYTE = 1024 * 1024


@dataclass(frozen=True)
class Limits:
    """The option ``limits``; these are its defaults.

    Attributes:
        rendered_mb: megabytes of what a program renders, and of each text that is read.
        rendering_seconds: time of a program.
        memory_mb: megabytes of memory of a program, on Linux.
        download_mb: megabytes of a download.
        download_seconds: time of a download, with its redirects.
        archive_mb: megabytes of the unpacked files of an archive, and of a private copy of a folder.
        archive_files: how many files and folders these may have.
        objects: how many objects a release or a manifest may have, and a file documents.
    """

    rendered_mb: int = 64
    rendering_seconds: int = 120
    memory_mb: int = 300
    download_mb: int = 256
    download_seconds: int = 600
    archive_mb: int = 1024
    archive_files: int = 50_000
    objects: int = 20_000

    @property
    def rendered(self) -> int:
        """Bytes of what is rendered."""
        return self.rendered_mb * MEGABYTE


DEFAULT_LIMITS = Limits()

LIMITS_SPEC: dict[str, dict[str, Any]] = {
    "limits": {
        "type": "dict",
        "apply_defaults": True,
        "options": {
            name: {"type": "int", "default": number} for name, number in asdict(DEFAULT_LIMITS).items()
        },
    }
}
"""Documented in the fragment ``kyma.lifecycle.limits``."""


def limits_of(params: Mapping[str, Any]) -> Limits:
    """The limits that validated options set.

    Raises:
        LifecycleError: one is no number above 0.
    """
    limits = Limits(**(params.get("limits") or {}))
    for name, number in asdict(limits).items():
        if number < 1:
            raise LifecycleError(f"limits (kyma_limits): {name} is {number}, and must be a number above 0")
    return limits


def beyond(limit: str, value: float, unit: str = "MB") -> str:
    """What a message says of a limit, and how to raise it."""
    return f"more than {value:g} {unit}. If that is right, raise the limit {limit} of limits (kyma_limits)"


def beyond_objects(most: int) -> str:
    """The same for documents and objects."""
    return beyond("objects", most, "documents and objects")
