# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads metrics in Prometheus's text format, as strictly as a scraper does."""

from __future__ import annotations

import re

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
PARTS = ("_bucket", "_sum", "_count")
"""What the names of a histogram's samples end with."""
LABEL = r'[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\["\\n])*"'
SAMPLE = re.compile(rf"({NAME})(\{{{LABEL}(?:,{LABEL})*\}})? (-?\d+(?:\.\d+)?)")


def parse_metrics(text: str) -> dict[str, float]:
    """The samples of a text, by name and labels; each family needs its help and its type before it."""
    assert text.endswith("\n")
    samples: dict[str, float] = {}
    family, helped, kind = "", "", ""
    for line in text.splitlines():
        if line.startswith("# HELP "):
            helped = line.split(" ", 3)[2]
        elif line.startswith("# TYPE "):
            _hash, _type, family, kind = line.split(" ")
            assert kind in ("gauge", "counter", "histogram"), line
            assert family == helped, line
            assert kind != "counter" or family.endswith("_total"), line
        else:
            match = SAMPLE.fullmatch(line)
            assert match, line
            name, labels, value = match.groups()
            names = [f"{family}{part}" for part in PARTS] if kind == "histogram" else [family]
            assert name in names, line
            assert f"{name}{labels or ''}" not in samples, line
            samples[f"{name}{labels or ''}"] = float(value)
    return samples
