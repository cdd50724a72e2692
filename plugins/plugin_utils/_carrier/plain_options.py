# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options without Ansible's own types: pure.

In Ansible's own process a text of a playbook has a subclass of ``str``, which PyYAML can't write.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def plain_options(params: Mapping[str, Any]) -> dict[str, Any]:
    """The options with plain texts, dicts and lists, at any depth. Other values stay."""
    return {name: _plain(value) for name, value in params.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, str):
        # A subclass may answer str() with itself.
        return "".join([value])
    if isinstance(value, Mapping):
        return {_plain(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value
