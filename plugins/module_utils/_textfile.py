# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Metrics in Prometheus's text format, and files of them for the node exporter or another file scraper."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path

Sample = tuple[Mapping[str, str], float]
"""The labels of a sample, and its value."""


def metric_family(name: str, type: str, help: str, samples: Iterable[Sample]) -> str:
    """The lines of a metric.

    Args:
        name: the metric's name.
        type: gauge or counter.
        help: the help text, on one line.
        samples: one for each combination of labels.
    """
    lines = (f"{name}{_labels(labels)} {_number(value)}\n" for labels, value in samples)
    return f"# HELP {name} {help}\n# TYPE {name} {type}\n" + "".join(lines)


def _labels(labels: Mapping[str, str]) -> str:
    listed = ",".join(f'{name}="{_label(value)}"' for name, value in labels.items())
    return f"{{{listed}}}" if listed else ""


def _number(value: float) -> str:
    """A number with all its digits: otherwise a counter of some millions would not appear to change."""
    return str(value) if isinstance(value, int) else f"{value:.3f}".rstrip("0").rstrip(".")


def _label(value: str) -> str:
    """The value of a label in the text format."""
    return value.replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")


def write_textfile(path: str, text: str) -> None:
    """Replace a file atomically, so that readers never find half of it. All users may read it.

    Raises:
        OSError: it can't be written.
    """
    target = Path(path)
    descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        Path(name).chmod(0o644)
        Path(name).replace(target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
