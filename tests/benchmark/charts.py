# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Helm charts of rendered manifests."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.support.manifests import Object

LARGEST = 2_500_000
"""Bytes of templates in one chart: Helm keeps a release, packed, in one Secret, which holds 1 MiB."""


@dataclass(frozen=True)
class Chart:
    """A component as a chart: its name, its component, its folder, and its namespace."""

    name: str
    component: str
    folder: Path
    namespace: str


def write_charts(component: str, namespace: str, objects: Iterable[Object], target: Path) -> list[Chart]:
    """Create one chart of a component, or several if one would be larger than Helm accepts."""
    charts = []
    for number, templates in enumerate(_parts(map(_template, objects)), start=1):
        name = component if number == 1 else f"{component}-part-{number}"
        folder = target / name
        shutil.rmtree(folder, ignore_errors=True)
        (folder / "templates").mkdir(parents=True)
        (folder / "Chart.yaml").write_text(
            f"apiVersion: v2\nname: {name}\nversion: 1.0.0\n", encoding="utf-8"
        )
        for position, text in enumerate(templates):
            (folder / "templates" / f"{position:04}.yaml").write_text(text, encoding="utf-8")
        charts.append(Chart(name, component, folder, namespace))
    return charts


def _template(obj: Object) -> str:
    return json.dumps(obj, ensure_ascii=False, indent=1).replace("{{", '{{ "{{" }}')


def _parts(texts: Iterable[str]) -> Iterator[Sequence[str]]:
    part: list[str] = []
    size = 0
    for text in texts:
        if part and size + len(text.encode()) > LARGEST:
            yield part
            part, size = [], 0
        part.append(text)
        size += len(text.encode())
    yield part
