# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Finds what Helm would load from outside a chart: schemas of values refer to files and URLs."""

from __future__ import annotations

import json
import posixpath
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from ...module_utils._redaction import without_login
from ...module_utils._release.limits import MEGABYTE, Limits
from ...module_utils._release.release_error import Problem
from .archive import TooLarge, open_archive
from .contained_files import files_inside, open_inside

_SCHEMA = "values.schema.json"
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
_KNOWN_METASCHEMA = re.compile(r"https?://json-schema\.org/(draft-0[467]|draft/20(19-09|20-12))/schema#?")
"""Those that Helm has itself."""
_MOST_BYTES = 5 * MEGABYTE
"""Of a file; Helm reads no larger one in an archive."""
_MOST_LEVELS = 8
"""Of archives in archives."""
_PIECE = 32 * 1024


def foreign_schema_references(chart: Path, root: Path, shown: str, limits: Limits) -> list[Problem]:
    """References in the schemas of a chart and of its subcharts that lead out of the schema's own file.

    Args:
        chart: its folder.
        root: that no link may leave.
        shown: the chart's folder in messages.
        limits: of unpacked archives.
    """
    problems = []
    for path in sorted(Path(file.place) for file in files_inside(chart, root, limits)):
        if path.name != _SCHEMA and path.suffix != ".tgz":
            continue
        place = f"{shown}/{path.relative_to(chart)}"
        try:
            with open_inside(path, root) as file:
                references = set(_references_in(path.name, file, limits, _MOST_LEVELS))
        except Exception as error:
            # A malformed header also makes tarfile raise ValueError, IndexError or RecursionError.
            problems.append(Problem(f"can't be read: {error}", place))
            continue
        problems += [
            Problem(f"{without_login(one)!r} is not in the schema: add a copy of it", place)
            for one in sorted(references)
        ]
    return problems


def _references_in(name: str, file: BinaryIO, limits: Limits, levels: int) -> Iterator[str]:
    if name == _SCHEMA:
        content = file.read(_MOST_BYTES + 1)
        if len(content) > _MOST_BYTES:
            raise TooLarge(f"{_SCHEMA} has more than {_MOST_BYTES // MEGABYTE} MB")
        try:
            yield from _references_of(json.loads(content.decode(errors="replace")))
        except json.JSONDecodeError:
            # Helm says so itself.
            return
    elif not levels:
        raise TooLarge(f"it has archives in more than {_MOST_LEVELS} levels")
    else:
        with open_archive(file, limits) as (tar, members):
            for member in members:
                # As Helm reads the names of members.
                inner = posixpath.basename(posixpath.normpath(member.name.replace("\\", "/")))
                if not member.isfile() or not (inner == _SCHEMA or inner.endswith(".tgz")):
                    continue
                with tempfile.TemporaryFile() as copy:
                    if packed := tar.extractfile(member):
                        shutil.copyfileobj(packed, copy, _PIECE)
                    copy.seek(0)
                    yield from _references_in(inner, copy, limits, levels - 1)


def _references_of(schema: Any) -> Iterator[str]:
    waiting = [schema]
    while waiting:
        node = waiting.pop()
        values = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
        for key, value in values:
            if not isinstance(value, str):
                waiting.append(value)
            elif (key in _REFERENCES and value and not value.startswith("#")) or (
                key == "$schema" and not _KNOWN_METASCHEMA.fullmatch(value)
            ):
                yield value
