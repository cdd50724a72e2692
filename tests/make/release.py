# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The content of a release's commit: the version in each file that has it, and the notes of the release.

The notes are those of the fragments. Those of the first release are a page in `changelogs/changelog.yaml`,
without a date until then. The fragments of that time change what no user has had, so they are deleted.
"""

from __future__ import annotations

import os
import re
from datetime import UTC, datetime
from pathlib import Path

from tests.cluster.console import say
from tests.cluster.paths import BUILD, ROOT

from . import content, setup
from .command import CommandError, must_read, read, shown
from .environments import LINT
from .outcome import Outcome, passed

VERSION = "VERSION"
"""The argument of make with the new version."""
CHANGELOG = Path("changelogs", "changelog.yaml")
_NUMBER = r"(0|[1-9]\d*)"
_SEMANTIC = re.compile(rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}(?:-(alpha|beta|rc)\.{_NUMBER})?")
_IN_METADATA = re.compile(r"^version: (\S+)$", re.MULTILINE)
_TITLE = re.compile(r"^v(\d\S*)$", re.MULTILINE)
NOTES = BUILD / "notes.md"
MENTION = re.compile(r"(?<=kyma-lifecycle-|kyma[/.]lifecycle:)\d+(?:\.\d+){2}(?:-[a-z]+\.\d+)?")
"""The version in the name of a tarball, an image or a requirement, as examples and pages print it."""
WITHOUT_MENTIONS = frozenset({"changelogs", "tests", "CHANGELOG.rst"})
"""The first parts of paths where such a version is that of an older release."""


def release() -> Outcome:
    """Turn the work tree into the commit of the release that the argument VERSION names."""
    setup.for_linters()
    return prepare(ROOT, os.environ.get(VERSION, ""), f"{datetime.now(UTC):%Y-%m-%d}")


def prepare(collection: Path, version: str, date: str) -> Outcome:
    """Turn a clean work tree into the commit of a release.

    Args:
        collection: the work tree.
        version: of the release.
        date: of the release, as YYYY-MM-DD.

    Raises:
        CommandError: if the version, the work tree or the fragments do not allow it, or a program fails.
    """
    first = undated_release(collection)
    fragments = sorted((collection / "changelogs" / "fragments").glob("*.y*ml"))
    why_not = refusal(
        version,
        present="" if first else version_of(collection),
        changes=_git(collection, "status", "--porcelain"),
        has_notes=bool(first or fragments),
    )
    if why_not:
        raise CommandError(why_not)
    set_version(collection, version)
    if first:
        _rename_release(collection / CHANGELOG, first, version)
        for fragment in fragments:
            fragment.unlink()
    changelog = LINT.bin / "antsibull-changelog"
    for command in (
        (changelog, "release", "--version", version, "--date", date, "--update-existing"),
        (changelog, "lint"),
    ):
        code, printed = read(command, env=LINT.variables, cwd=collection)
        if code:
            raise CommandError(
                f"`{shown(command)}` failed:\n{printed}\nTo undo what this command has changed:\n"
                "  git restore . && git clean --force changelogs"
            )
    say(
        f"The work tree is release {version}. Read CHANGELOG.rst, let `make test` pass, and then:\n"
        f"  git add --all && git commit --message 'Release {version}'\n"
        f"  git tag --sign --message 'Release {version}' {version}\n"
        f"  git push origin HEAD {version}\n"
        "The tag starts .github/workflows/release.yml, which tests, builds, signs and publishes."
    )
    return passed()


def notes() -> Outcome:
    """Write the notes of the version in galaxy.yml as Markdown, for its release on GitHub."""
    setup.for_linters()
    write_notes(content.COPY, NOTES)
    return passed(f"The notes are {NOTES.relative_to(ROOT)}")


def write_notes(collection: Path, target: Path) -> None:
    """Write the notes of the version in galaxy.yml to a file.

    Args:
        collection: the folder with galaxy.yml.
        target: the file.

    Raises:
        CommandError: if the newest notes are those of another version, or have no date.
    """
    version = version_of(collection)
    titles = _TITLE.findall((collection / "CHANGELOG.rst").read_text(encoding="utf-8"))
    if titles[:1] != [version] or undated_release(collection):
        raise CommandError(
            f"CHANGELOG.rst does not begin with the notes of {version}, with a date. Call this first:\n"
            f"  make release {VERSION}={version}"
        )
    words = ("generate", "--only-latest", "--output-format", "md", "--output", target)
    command = (LINT.bin / "antsibull-changelog", *words)
    must_read(command, env=LINT.variables, cwd=collection)


def refusal(version: str, *, present: str, changes: str, has_notes: bool) -> str:
    """Why no release can be made, and what to do; empty if it can.

    Args:
        version: of the release.
        present: the version of galaxy.yml, that of the release before; empty before the first release.
        changes: what `git status --porcelain` prints.
        has_notes: whether there are fragments, or the page of the first release.
    """
    if not _SEMANTIC.fullmatch(version):
        return (
            f"{VERSION} is {version!r}, and no semantic version such as 1.2.3 or 1.2.3-rc.1. For example:\n"
            f"  make release {VERSION}=1.2.3"
        )
    if present and version_order(version) <= version_order(present):
        return f"{VERSION}={version} is not newer than {present}, the version in galaxy.yml."
    if changes:
        return f"The work tree differs from its last commit. Commit or stash this first:\n{changes}"
    is_end_of_candidates = present.partition("-")[0] == version
    if not has_notes and not is_end_of_candidates:
        return "There are no fragments in changelogs/fragments, so there is nothing to release."
    return ""


def undated_release(collection: Path) -> str:
    """The release in the changelog that was never published: it has no date. Empty if there is none."""
    # Imported here, because make begins with a Python that has nothing else.
    import yaml

    path = collection / CHANGELOG
    releases = yaml.safe_load(path.read_text(encoding="utf-8"))["releases"] if path.exists() else {}
    return next((version for version, release in releases.items() if "release_date" not in release), "")


def _rename_release(changelog: Path, old: str, new: str) -> None:
    """Give the release of a changelog another version."""
    import yaml

    content = yaml.safe_load(changelog.read_text(encoding="utf-8"))
    content["releases"][new] = content["releases"].pop(old)
    changelog.write_text(yaml.safe_dump(content), encoding="utf-8")


def version_of(collection: Path) -> str:
    """The version in galaxy.yml."""
    (version,) = _IN_METADATA.findall((collection / "galaxy.yml").read_text(encoding="utf-8"))
    return str(version)


def set_version(collection: Path, version: str) -> None:
    """Write a version to galaxy.yml, and to each page and example that prints it."""
    metadata = collection / "galaxy.yml"
    text = metadata.read_text(encoding="utf-8")
    metadata.write_text(_IN_METADATA.sub(f"version: {version}", text), encoding="utf-8")
    for path in mentioning(collection):
        text = path.read_text(encoding="utf-8")
        path.write_text(MENTION.sub(version, text), encoding="utf-8")


def mentioning(collection: Path) -> list[Path]:
    """The tracked files that have the present version in the name of a tarball, an image or a requirement."""
    names = _git(collection, "ls-files", "-z").split("\0")
    paths = [collection / name for name in names if name and name.split("/")[0] not in WITHOUT_MENTIONS]
    return [path for path in paths if path.is_file() and _mentions(path)]


def _mentions(path: Path) -> bool:
    try:
        return bool(MENTION.search(path.read_text(encoding="utf-8")))
    except UnicodeDecodeError:
        return False  # A picture.


def version_order(version: str) -> tuple[int, int, int, str, int]:
    """A key by which versions can be compared. The names of stages are in the order of the alphabet."""
    match = _SEMANTIC.fullmatch(version)
    if not match:
        raise CommandError(f"{version} is no semantic version.")
    major, minor, patch, stage, number = match.groups()
    return int(major), int(minor), int(patch), stage or "release", int(number or 0)


def _git(collection: Path, *words: str) -> str:
    return must_read(["git", *words], cwd=collection).rstrip("\n")
