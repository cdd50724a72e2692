# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The fields that an engine retains of the objects that it watches, to save memory: pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .._cluster.cluster import Object
from .._jobs.versioned_secrets import SECRET_KIND_LABEL
from .errand import LAST_APPLIED, is_applied, owns_strategy
from .errand_index import CONFIG_MAP, ERRAND, SECRET

_NAMES = ("name", "namespace", "uid", "resourceVersion")


def reduced_object(kind: tuple[str, str], obj: Object) -> Object:
    """An object without the fields that do not matter for errands.

    Args:
        kind: apiVersion and kind.
        obj: as listed or watched; of ConfigMaps and Secrets, the metadata.
    """
    meta = obj["metadata"]
    if kind in (CONFIG_MAP, SECRET):
        label = (meta.get("labels") or {}).get(SECRET_KIND_LABEL)
        labels = {"labels": {SECRET_KIND_LABEL: label}} if label else {}
        return {"metadata": {**{name: meta.get(name) for name in _NAMES}, **labels}}
    reduced = {name: value for name, value in meta.items() if name != "managedFields"}
    if kind == ERRAND:
        reduced["managedFields"] = _owners(meta.get("managedFields") or ())
        annotations = meta.get("annotations") or {}
        reduced["annotations"] = {name: text for name, text in annotations.items() if name != LAST_APPLIED}
    return {**obj, "metadata": reduced}


def _owners(managed_fields: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The entries that show who sets the strategy."""
    return [entry for entry in managed_fields if owns_strategy(entry) or is_applied(entry)]
