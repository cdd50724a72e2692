# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The version of a release."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path

from ...module_utils._release.limits import DEFAULT_LIMITS, Limits
from .contained_files import read_inside
from .programs import ProgramFailed, ProgramMissing, run_program

_NAMED = re.compile(r"(?:kyma[-_])?(?:release[-_])?v?(\d+\.\d+(?:\.\d+)?(?:[-.]?(?:alpha|beta|rc)[-.]?\d+)?)")
_GIT_LIMITS = Limits(rendering_seconds=20)
_WITHOUT_FETCHING = {"GIT_ALLOW_PROTOCOL": "", "GIT_NO_LAZY_FETCH": "1"}
"""Git would fetch a missing object by the commands in the checkout's settings, which others have written."""


def is_version(version: str) -> bool:
    """Whether a version can be compared with others (PEP 440, as ``packaging`` reads it)."""
    from packaging.version import InvalidVersion, Version

    try:
        Version(version)
    except InvalidVersion:
        return False
    return True


def number_problem(number: float) -> str:
    """Why a number of YAML is no version: it reads 2.10 as 2.1, which is another release."""
    return f'{number} is a number, and 2.10 is the same one as 2.1: put the version in quotes, like "2.10"'


def are_same_version(one: str, other: str) -> bool:
    """Whether two versions are equal, as 2.9 and 2.9.0 are."""
    from packaging.version import Version

    return Version(one) == Version(other)


def version_in_name(name: str) -> str:
    """The version in the name of a folder, archive, branch or tag, or empty.

    >>> version_in_name("kyma-2.9.1"), version_in_name("release-2.9"), version_in_name("main")
    ('2.9.1', '2.9', '')
    """
    match = _NAMED.fullmatch(name.removesuffix(".tgz").removesuffix(".tar.gz"))
    return match[1] if match else ""


def version_of_checkout(root: Path) -> str:
    """The version of a git checkout, or empty: by a tag of its commit, else by a branch ``release-2.9``."""
    if not (root / ".git").exists():
        return ""
    command = ["git", "-C", str(root), "log", "-1", "--no-show-signature", "--decorate=full", "--format=%D"]
    try:
        # The user's settings decide which owners of a checkout git trusts.
        environment = dict(_WITHOUT_FETCHING)
        with suppress(RuntimeError):
            # A container's user may have no home.
            environment["HOME"] = str(Path.home())
        decorations = run_program(command, limits=_GIT_LIMITS, more_environment=environment).strip()
    except (ProgramFailed, ProgramMissing):
        decorations = _head_of(root).strip().removeprefix("ref: ")
    return version_in_decorations(decorations)


def _head_of(root: Path) -> str:
    """The content of a checkout's HEAD; empty if it can't be read."""
    try:
        return read_inside(root / ".git" / "HEAD", root, DEFAULT_LIMITS).decode(errors="replace")
    except OSError:
        return ""


def version_in_decorations(decorations: str) -> str:
    """The version in the output of ``git log --decorate=full --format=%D``; tags win, the newest of them."""
    names = [name.removeprefix("HEAD -> ") for name in decorations.split(", ")]
    for prefix in ("tag: refs/tags/", "refs/heads/", "refs/remotes/"):
        named = (name.removeprefix(prefix).rpartition("/")[2] for name in names if name.startswith(prefix))
        versions = [version for version in map(version_in_name, named) if version]
        if versions:
            return newest(versions)
    return ""


def newest(versions: list[str]) -> str:
    """The highest of some versions."""
    from packaging.version import Version

    return max(versions, key=Version)
