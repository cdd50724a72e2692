# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Renders a chart with the ``helm`` binary, version 3 or 4, without access to a cluster."""

from __future__ import annotations

import json
import re
import shutil
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from ...module_utils._release.limits import DEFAULT_LIMITS, Limits
from ...module_utils._release.release_error import release_error
from ...module_utils._text import one_line
from .layout import Chart
from .programs import Outputs, ProgramFailed, ProgramMissing, run_always, run_program

_SHORTEST_SECRET = 6
"""Characters; to hide what is shorter would leave of a message what nobody understands."""
_SOURCE = re.compile(r"^# Source: [^/\n]+/(.+)$", re.MULTILINE)
_PLACE = re.compile(r"(?<![\w.-])[\w.-]+/((?:charts|templates|crds)/[^\s:()\"'<>]+)(?::(\d+))?(?::(\d+))?")
_ADVICE = "install Helm 3 or 4, or name its binary in helm_binary (kyma_helm_binary)"
PACKED = ".tgz"
"""The name of a packed chart ends with it."""
TEMPLATES = (".yaml", ".yml", ".tpl", ".txt", PACKED)
"""What may be a template outside of the folder for them, by the end of its name."""
_VARYING = re.compile(
    rb"\b(rand(Alpha|AlphaNum|Numeric|Ascii|Bytes|Int)|gen(CA|SelfSignedCert|SignedCert|PrivateKey)\w*"
    rb"|uuidv4|htpasswd|bcrypt|encryptAES|shuffle|getHostByName)\b|[({|]-?\s*now\b"
)


@dataclass(frozen=True)
class Rendering:
    """The output of Helm for a chart.

    Attributes:
        text: the manifests, hooks and CRDs included.
        place: the template that a line of the text is from, without a line number.
    """

    text: str
    place: Callable[[int], tuple[str, int]]


def helm_version(binary: str, outputs: Outputs = run_always) -> str:
    """The version of the helm binary, e.g. ``v4.3.0``.

    Args:
        binary: its name or path.
        outputs: returns outputs that are known.

    Raises:
        ReleaseError: helm is missing or too old.
    """
    version = _known_version(binary, outputs)
    if version.startswith(("v1.", "v2.")):
        raise release_error(f"{binary} is Helm {version}, and Helm charts need version 3 or 4: {_ADVICE}")
    return version


@lru_cache
def _known_version(binary: str, outputs: Outputs) -> str:
    place = shutil.which(binary)
    if place is None:
        return _ask_version(binary)
    file = Path(place).stat()
    # Another binary may take its place while ansible-playbook runs.
    key = ("helm version", place, file.st_dev, file.st_ino, file.st_size, file.st_ctime_ns)
    return outputs(repr(key), lambda: _ask_version(binary))


def _ask_version(binary: str) -> str:
    try:
        return run_program([binary, "version", "--template", "{{ .Version }}"]).strip()
    except ProgramMissing as error:
        raise release_error(f"the release has Helm charts, and {error}: {_ADVICE}") from error
    except ProgramFailed as error:
        raise release_error(f"{binary} does not print its version: {one_line(error)}") from error


def render_chart(
    chart: Chart,
    shown: str,
    *,
    component: str,
    namespace: str,
    values: Mapping[str, Any],
    api_versions: Iterable[str],
    binary: str,
    limits: Limits = DEFAULT_LIMITS,
    source_hash: str = "",
    outputs: Outputs = run_always,
) -> Rendering:
    """Render a chart for a component.

    Args:
        chart: the chart and its profile's values.
        shown: the chart's folder in messages.
        component: the release's name in Helm's sense.
        namespace: ``.Release.Namespace``.
        values: the user's values, which win over the profile's.
        api_versions: entries of ``.Capabilities.APIVersions`` in addition to Kubernetes' own.
        binary: the helm binary.
        limits: of time, memory and output.
        source_hash: of the chart, its values and the tools; empty if each rendering may differ.
        outputs: returns outputs that are known.

    Raises:
        ReleaseError: Helm failed; the message has its error, with the template and line if it names one.
    """
    command = [binary, "template", component, str(chart.folder), "--namespace", namespace, "--include-crds"]
    for path in chart.values:
        command += ["--values", str(path)]
    # By standard input, so that a secret among the values is neither in a file nor in the list of processes.
    command += ["--values", "-"]
    for version in api_versions:
        command += ["--api-versions", version]

    def render() -> str:
        return run_program(command, limits=limits, stdin=json.dumps(values))

    try:
        text = outputs(f"helm template {source_hash}", render) if source_hash else render()
    except (ProgramFailed, ProgramMissing) as error:
        error_text = _without_values(str(error), values).replace(str(chart.folder), shown)
        file, line, column, message = explain_helm_error(error_text, shown)
        raise release_error(message, file, line, column) from error
    return Rendering(text, _places(text, shown))


def _without_values(error: str, values: Mapping[str, Any]) -> str:
    """Helm's error without the user's values: a schema quotes a value that does not meet it."""
    for text in sorted(_texts(values), key=len, reverse=True):
        if len(text) >= _SHORTEST_SECRET:
            error = error.replace(text, "***")
    return error


def _texts(values: Any) -> Iterator[str]:
    if isinstance(values, Mapping):
        values = values.values()
    elif not isinstance(values, list):
        if values is not None:
            yield str(values)
        return
    for value in values:
        yield from _texts(value)


def explain_helm_error(error: str, shown: str) -> tuple[str, int, int, str]:
    """File, line, column and message of Helm's error about a chart; the innermost place that it names."""
    message = re.sub(r"\n+Use --debug flag.*", "", error, flags=re.DOTALL).removeprefix("Error: ")
    places, message = _PLACE.findall(message), one_line(message)
    if "missing in charts/ directory" in message:
        advice = (
            f"Run: helm dependency build {shown} (or take what it should do without out of its Chart.yaml)"
        )
        return shown, 0, 0, f"{message}\n{advice}"
    if not places:
        return shown, 0, 0, f"Helm can't render the chart: {message}"
    # After a place with its line, Helm names the template again without one.
    path, line, column = next((place for place in reversed(places) if place[1]), places[-1])
    return f"{shown}/{path}", int(line or 0), int(column or 0), f"Helm can't render the chart: {message}"


def may_vary(folder: Path) -> bool:
    """Whether a chart's files name a function that returns something different each time, or may do so."""
    return any(
        path.suffix == PACKED or _VARYING.search(path.read_bytes())
        for path in folder.rglob("*")
        if (path.suffix in TEMPLATES or "templates" in path.relative_to(folder).parts) and path.is_file()
    )


def _places(text: str, shown: str) -> Callable[[int], tuple[str, int]]:
    starts, files, line, position = [0], [shown], 1, 0
    for match in _SOURCE.finditer(text):
        line += text.count("\n", position, match.start())
        position = match.start()
        starts.append(line)
        files.append(f"{shown}/{match[1]}")

    def place(line: int) -> tuple[str, int]:
        return files[bisect_right(starts, line) - 1], 0

    return place
