# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The page of documentation that has the tables."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from string import Template

from .names import LIMITS, SIZES

TEMPLATE = Path(__file__).with_name("page.md")


def workloads(counts: Mapping[int, int]) -> str:
    """The measurements, by number of objects, as far as there are any: `counts` by size."""
    small, large = SIZES
    parts = []
    if small in counts:
        parts.append(f"whose 15 components and CRDs are {counts[small]:,} objects")
    if large in counts:
        parts.append(f"a release with ten of each of its objects, {counts[large]:,}")
    return ", and ".join(parts)


def limits(given: float | None = None) -> str:
    """The default time limit of one measurement of a case, for each size."""
    if given:
        return f"{given:.0f} s"
    return " or ".join(f"{seconds:.0f} s (for some {size:,} objects)" for size, seconds in LIMITS.items())


def page(tables: str, **facts: str) -> str:
    """Fill the page's text; `facts` are the names in it."""
    text = Template(TEMPLATE.read_text(encoding="utf-8")).substitute(facts, tables=tables)
    return text.strip() + "\n"
