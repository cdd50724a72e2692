# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads unit files of systemd."""

from __future__ import annotations

from pathlib import Path


def read_unit(path: Path) -> dict[str, dict[str, list[str]]]:
    """The values of each setting of a unit file, by section; a setting may be there several times."""
    sections: dict[str, dict[str, list[str]]] = {}
    section: dict[str, list[str]] = {}
    for line in path.read_text().replace("\\\n", " ").splitlines():
        if line.startswith("["):
            section = sections.setdefault(line.strip("[]"), {})
        elif line and line[0] not in "#;":
            name, _equals, value = line.partition("=")
            section.setdefault(name, []).append(value)
    return sections
