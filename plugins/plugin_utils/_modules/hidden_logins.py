# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The options of a task about modules without the logins in their URLs, which only downloads need."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from ...module_utils._redaction import without_login, without_logins, without_user


def hidden_link(link: str) -> str:
    """A link by which a manifest is known instead of its URL; a fragment tells queries apart."""
    shown = without_login(link)
    if "?" not in link or shown == link:
        return shown
    return f"{shown}#{hashlib.sha256(without_user(link).encode()).hexdigest()[:12]}"


def options_without_logins(params: Mapping[str, Any]) -> dict[str, Any]:
    """Those of a task's options that have URLs, for the function of the task."""
    hidden: dict[str, Any] = {
        "catalog": without_logins(params["catalog"]),
        "checksums": {hidden_link(link): checksum for link, checksum in params["checksums"].items()},
    }
    if params.get("manifest"):
        hidden["manifest"] = hidden_link(params["manifest"])
    if params.get("modules"):
        hidden["modules"] = [
            {**one, "manifest": hidden_link(one["manifest"])} if one.get("manifest") else one
            for one in params["modules"]
        ]
    return hidden
