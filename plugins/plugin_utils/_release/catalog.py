# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Finds the releases that an upgrade may pass through, and their versions; it renders none of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ...module_utils._redaction import without_login, without_logins
from ...module_utils._release.model import ReleaseRequest
from ...module_utils._release.release_error import ReleaseError, release_error
from .layout import layout_of
from .release_file import ReleaseDeclaration, parse_release_file
from .source import archive_name, is_url, open_source
from .version import number_problem, version_in_name

_KEYS = ("release", "checksum", "version")


@dataclass(frozen=True)
class CatalogEntry:
    """A release of a catalog.

    Attributes:
        request: its place; all else as for the wanted release.
        version: of the release.
        upgrades_from: the versions that it may follow; empty means the previous minor.
    """

    request: ReleaseRequest
    version: str
    upgrades_from: tuple[str, ...] = ()


def read_catalog(entries: Iterable[str | Mapping[str, Any]], target: ReleaseRequest) -> list[CatalogEntry]:
    """The releases that a catalog lists, and those in the folders that it lists.

    Args:
        entries: paths and URLs of releases and of folders of releases, each as text or as a mapping with
            ``release``, ``checksum`` and ``version``. If there is none, the folder of the target release.
        target: the target release of an upgrade.

    Raises:
        ReleaseError: a release that is listed itself has an error.
    """
    listed = list(entries)
    if not listed and not is_url(target.source):
        listed = [str(Path(target.source).expanduser().absolute().parent)]
    releases = [one for entry in listed for one in _releases_of(_parsed_entry(entry), target)]
    return list({one.version: one for one in reversed(releases)}.values())[::-1]


def _parsed_entry(entry: str | Mapping[str, Any]) -> dict[str, str]:
    fields = dict(entry) if isinstance(entry, Mapping) else {"release": entry}
    if set(fields) - set(_KEYS) or not fields.get("release"):
        raise release_error(
            f"release_catalog: {without_logins(entry)!r} is neither the place of a release"
            f" nor a mapping of {', '.join(_KEYS)}"
        )
    for key, value in fields.items():
        if isinstance(value, float):
            raise release_error(f"release_catalog: {key}: {number_problem(value)}")
    return {key: str(value) for key, value in fields.items()}


def _releases_of(entry: Mapping[str, str], target: ReleaseRequest) -> Iterator[CatalogEntry]:
    path = Path(entry["release"]).expanduser()
    if not is_url(entry["release"]) and path.is_dir() and layout_of(path).component_list() is None:
        for child in sorted(path.iterdir()):
            try:
                yield _listed({"release": str(child)}, target)
            except (ReleaseError, OSError):
                # A folder of releases may hold anything else, and releases that are not needed.
                continue
    else:
        yield _listed(entry, target)


def _listed(entry: Mapping[str, str], target: ReleaseRequest) -> CatalogEntry:
    source = entry["release"]
    version = entry.get("version", "").removeprefix("v")
    request = replace(target, source=source, checksum=entry.get("checksum", ""), version=version)
    declared = ReleaseDeclaration()
    if is_url(source):
        version = version or version_in_name(archive_name(request))
    else:
        with open_source(request, whole=False) as opened:
            layout = layout_of(opened.root)
            if layout.component_list() is None and Path(source).expanduser().is_dir():
                raise release_error("there is no components.yaml (or .yml, .json)", without_login(source))
            if file := layout.release_file():
                declared = parse_release_file(opened.text(file), opened.show(file))
            version = declared.version or version or opened.version()
    if not version:
        raise release_error("release_catalog: its version is unknown", without_login(source))
    return CatalogEntry(request, version, declared.upgrades_from)
