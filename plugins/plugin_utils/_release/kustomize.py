# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Renders a kustomization with any kustomize of this machine, from local files alone."""

from __future__ import annotations

import shutil
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from ...module_utils._release.release_error import ReleaseError, release_error
from ...module_utils._text import one_line
from .programs import ProgramFailed, ProgramMissing, run_program

if TYPE_CHECKING:
    from .source import Source


@lru_cache
def _tool() -> tuple[str, ...]:
    if shutil.which("kustomize"):
        return ("kustomize", "build")
    if shutil.which("kubectl"):
        return ("kubectl", "kustomize")
    raise release_error(
        "the release has kustomizations, and this machine has neither kustomize nor kubectl: install one"
    )


@lru_cache
def kustomize_version() -> str:
    """The tool that renders kustomizations, and its version.

    Raises:
        ReleaseError: no tool is installed.
    """
    tool = _tool()
    command = ["kustomize", "version"] if tool[0] == "kustomize" else ["kubectl", "version", "--client"]
    try:
        return f"{tool[0]} {run_program(command).strip()}"
    except (ProgramFailed, ProgramMissing) as error:
        raise release_error(f"{tool[0]} does not print its version: {one_line(error)}") from error


def render_kustomization(folder: Path, source: Source) -> str:
    """The manifests of a kustomization.

    Raises:
        ReleaseError: kustomize failed, or a reference leads out of the release.
    """
    # Imported here, as a fingerprint needs only the version.
    from .kustomize_references import foreign_references

    private = replace(source, root=source.private_copy(source.root))
    inner = private.root / folder.relative_to(source.root)
    problems = foreign_references(inner, private)
    if problems:
        raise ReleaseError(problems)
    try:
        return run_program([*_tool(), str(inner)], limits=source.limits)
    except (ProgramFailed, ProgramMissing) as error:
        message = (
            str(error)
            .removeprefix("error: ")
            .removeprefix("Error: ")
            .replace(str(private.root), source.label)
        )
        raise release_error(f"kustomize can't render it: {one_line(message)}", source.show(folder)) from error
