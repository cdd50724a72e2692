# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""PyYAML's own parser, for machines where PyYAML was installed without libyaml.

It refuses tabs between tokens and inside plain scalars; libyaml and kubectl accept them. Charts of Kyma
have some at the ends of lines.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any


@lru_cache
def python_loader() -> Any:
    """A loader class of PyYAML that accepts tabs like libyaml."""
    import yaml

    class TabLoader(yaml.SafeLoader):
        """A loader in which a tab separates, and does not indent."""

        def scan_to_next_token(self) -> None:
            super().scan_to_next_token()
            while self.peek() == "\t" and (self.flow_level or not self.allow_simple_key):
                self.forward()
                super().scan_to_next_token()

        def scan_plain_spaces(self, indent: int, start_mark: Any) -> Any:
            length = 0
            while self.peek(length) in " \t":
                length += 1
            blanks = self.prefix(length)
            if "\t" not in blanks:
                return super().scan_plain_spaces(indent, start_mark)
            self.forward(length)
            # At the end of a line tabs do not count, and the next lines may continue the scalar.
            return super().scan_plain_spaces(indent, start_mark) if self.peek() in "\r\n\0" else [blanks]

    return TabLoader
