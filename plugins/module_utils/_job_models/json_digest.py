# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A digest of a JSON value: pure."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any


def json_digest(value: Mapping[str, Any]) -> str:
    """A digest of a value: 32 hexadecimal digits, equal for equal values."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:32]
