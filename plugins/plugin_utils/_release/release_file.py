# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads the ``release.yaml`` of a release."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ...module_utils._release.release_error import ReleaseError
from .version import is_version
from .yaml_files import Key, SettingsReader, read_settings

_VERSION = re.compile(r"\s*[vV]?\d\S*\s*")
"""What begins as a version. Only ``packaging`` reads all of it."""
RELEASE_KEYS = {
    "version": Key("The version of the release. By default it is in the name of the folder.", _VERSION),
    "upgrades_from": Key(
        "Versions that it may follow. By default it is the previous minor version.", _VERSION, is_list=True
    ),
    "kubernetes": Key("Versions of Kubernetes that it supports, as a range like >=1.24,<1.30."),
}
"""The keys of ``release.yaml``."""


@dataclass(frozen=True)
class ReleaseDeclaration:
    """The content of ``release.yaml``; empty fields for missing keys.

    Attributes:
        version: its version.
        upgrades_from: versions that it may follow.
        kubernetes: server versions that it supports, as a PEP 440 specifier set.
    """

    version: str = ""
    upgrades_from: tuple[str, ...] = ()
    kubernetes: str = ""


def parse_release_file(text: str, file: str) -> ReleaseDeclaration:
    """The content of a ``release.yaml``.

    Raises:
        ReleaseError: the file has errors; the message has all of them.
    """
    from packaging.specifiers import InvalidSpecifier, SpecifierSet

    settings = read_settings(text, file)
    reader = SettingsReader(file)
    line = settings.line
    reader.only(settings, RELEASE_KEYS)
    declared = ReleaseDeclaration(
        version=reader.string(settings, "version").removeprefix("v"),
        upgrades_from=tuple(v.removeprefix("v") for v in reader.strings(settings, "upgrades_from")),
        kubernetes=reader.string(settings, "kubernetes"),
    )
    for version in filter(None, (declared.version, *declared.upgrades_from)):
        if not is_version(version):
            reader.refuse(f"{version!r} is not a version", line)
    try:
        SpecifierSet(declared.kubernetes)
    except InvalidSpecifier:
        reader.refuse(f"kubernetes: {declared.kubernetes!r} is not a range like '>=1.24,<1.30'", line)
    if reader.problems:
        raise ReleaseError(reader.problems)
    return declared
