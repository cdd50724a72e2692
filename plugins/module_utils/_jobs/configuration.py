# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The configuration of a run: the content of its ConfigMaps and Secrets when its Job was created. Pure."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from .._loose_json import mapping_of, text_of
from .pod_references import PodReference

_DATA_FIELDS = ("data", "binaryData")


@dataclass(frozen=True)
class ConfigurationEntry:
    """One ConfigMap or Secret that a run was created with."""

    kind: Annotated[str, "`ConfigMap` or `Secret`."]
    name: Annotated[str, "The name, as the template has it."]
    resolved_name: Annotated[
        str, "The name of the object. It differs for a versioned Secret, and else is the same."
    ] = ""
    uid: Annotated[str, "The uid of the object. Empty if it did not exist, as an optional one."] = ""
    resource_version: Annotated[str, "The version of the object. Empty if it did not exist."] = ""
    digest: Annotated[str, "A keyed hash of its data. Empty if it did not exist."] = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "resolved_name", self.resolved_name or self.name)


def configuration_entry(
    reference: PodReference, obj: Mapping[str, Any] | None, key: bytes
) -> ConfigurationEntry:
    """The entry of a reference for the object that it leads to.

    Args:
        reference: in the template.
        obj: the object; for a versioned Secret the newest version; None if there is none.
        key: see :func:`data_digest`.
    """
    if obj is None:
        return ConfigurationEntry(reference.kind, reference.name)
    meta = mapping_of(obj.get("metadata"))
    return ConfigurationEntry(
        reference.kind,
        reference.name,
        text_of(meta.get("name")),
        text_of(meta.get("uid")),
        text_of(meta.get("resourceVersion")),
        data_digest(obj, key),
    )


def data_digest(obj: Mapping[str, Any], key: bytes) -> str:
    """The HMAC-SHA256 of an object's ``data`` and ``binaryData``, in hexadecimal digits.

    Nothing else of the object counts.

    Args:
        obj: a ConfigMap or a Secret.
        key: a secret. Without it, a reader of the digest could guess short values.
    """
    content = {field: dict(mapping_of(obj.get(field))) for field in _DATA_FIELDS}
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()


def missing_keys(obj: Mapping[str, Any], reference: PodReference) -> list[str]:
    """The keys that a reference needs and its object does not have, sorted."""
    return sorted(key for key in reference.keys if not any(key in _data(obj, f) for f in _DATA_FIELDS))


def _data(obj: Mapping[str, Any], field: str) -> Mapping[str, Any]:
    return mapping_of(obj.get(field))
