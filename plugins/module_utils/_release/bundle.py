# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A rendered release as bytes, to send it from the controller to the host that works with it."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import asdict, replace
from typing import Any

from ansible_collections.kyma.lifecycle.plugins.module_utils._release.model import (
    ComponentEntry,
    Content,
    Release,
)


def to_bundle(release: Release, components: Collection[str] | None = None, *, crds: bool = True) -> bytes:
    """A release as JSON.

    Args:
        release: the rendered release.
        components: those whose content is wanted, or None for all; the list itself stays whole.
        crds: whether the CRDs are wanted.
    """
    wanted = {
        name: vars(content)
        for name, content in release.content.items()
        if components is None or name in components
    }
    kept = vars(release) | {
        "components": [asdict(entry) for entry in release.components],
        "content": wanted,
        "crds": vars(release.crds if crds else replace(release.crds, objects=(), hooks=())),
    }
    return json.dumps(kept, ensure_ascii=False, separators=(",", ":")).encode()


def from_bundle(bundle: bytes) -> Release:
    """The release that :func:`to_bundle` made the bytes of."""
    kept: dict[str, Any] = json.loads(bundle)
    for name in ("upgrades_from", "warnings"):
        kept[name] = tuple(kept[name])
    kept["components"] = tuple(
        ComponentEntry(**entry | {"needs": tuple(entry["needs"])}) for entry in kept["components"]
    )
    kept["content"] = {name: _content(content) for name, content in kept["content"].items()}
    kept["crds"] = _content(kept["crds"])
    return Release(**kept)


def _content(kept: dict[str, Any]) -> Content:
    return Content(**kept | {"objects": tuple(kept["objects"]), "hooks": tuple(kept["hooks"])})
