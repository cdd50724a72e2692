# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Metrics in Prometheus's text format, and files of them for the node exporter or another file scraper."""

from __future__ import annotations

import os
import tempfile
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
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
    return _family(name, type, help, (("", labels, value) for labels, value in samples))


class Histogram:
    """Observations in buckets.

    Args:
        bounds: the highest value of each bucket, in their order.
    """

    def __init__(self, bounds: Sequence[float]) -> None:
        self._bounds = bounds
        self._counts = [0] * (len(bounds) + 1)
        self._sum = 0.0

    def observe(self, value: float) -> None:
        """Count a value."""
        self._counts[bisect_left(self._bounds, value)] += 1
        self._sum += value

    def samples(self, labels: Mapping[str, str]) -> Iterator[tuple[str, Mapping[str, str], float]]:
        """Its samples, each with what follows the metric's name, the labels, and the value.

        Args:
            labels: of the histogram.
        """
        for bound, count in zip([*map(_number, self._bounds), "+Inf"], accumulate(self._counts), strict=True):
            yield "_bucket", {**labels, "le": bound}, count
        yield "_sum", labels, self._sum
        yield "_count", labels, sum(self._counts)


def histogram_family(name: str, help: str, histograms: Iterable[tuple[Mapping[str, str], Histogram]]) -> str:
    """The lines of a metric whose values are histograms, one for each combination of labels."""
    samples = (sample for labels, one in histograms for sample in one.samples(labels))
    return _family(name, "histogram", help, samples)


def _family(name: str, type: str, help: str, samples: Iterable[tuple[str, Mapping[str, str], float]]) -> str:
    lines = (f"{name}{part}{_labels(labels)} {_number(value)}\n" for part, labels, value in samples)
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
