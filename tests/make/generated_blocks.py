# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Blocks of a page that are generated from the code; people write all else.

A block begins with a line ``<!-- generated: NAME -->`` and ends with ``<!-- end -->``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

_BLOCK = re.compile(r"<!-- generated: (?P<name>\S+) -->\n.*?<!-- end -->", re.DOTALL)


def opening(name: str) -> str:
    """The line that begins a block."""
    return f"<!-- generated: {name} -->"


def block(name: str, text: str) -> str:
    """A whole block."""
    return f"{opening(name)}\n{text}\n<!-- end -->"


def block_names(page: str) -> list[str]:
    """The names of the blocks of a page."""
    return [match["name"] for match in _BLOCK.finditer(page)]


def replace_blocks(page: str, texts: Mapping[str, str]) -> str:
    """The page with new texts in its blocks. Blocks without a text stay the same.

    Args:
        page: Markdown.
        texts: of blocks, by name.
    """

    def new_block(match: re.Match[str]) -> str:
        name = match["name"]
        return block(name, texts[name]) if name in texts else match[0]

    return _BLOCK.sub(new_block, page)
