# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The page with each kind of record and each of its fields, from the definitions that a run installs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import yaml
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.errand_definition import (
    ERRAND_RESOURCE,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._store.store_kinds import (
    STORE_KINDS,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._tasks.shared.record_kinds import RECORD_KINDS

from tests.cluster.paths import ROOT

from .schema_fields import Field, fields_of, table

TEXTS = ROOT / "docs" / "docsite" / "record_fields.yml"
"""What each kind is for, and descriptions of the fields whose definition has none."""
EVERY_KIND = "every kind"
"""The key of the fields that have the same description in each kind."""


def record_definitions() -> list[Object]:
    """The CustomResourceDefinitions of all kinds of the collection."""
    return [*RECORD_KINDS.definitions, ERRAND_RESOURCE.definition, *STORE_KINDS.definitions]


def described_fields(definition: Object, texts: Mapping[str, Mapping[str, str]]) -> list[Field]:
    """The fields of the stored version of a kind, each with a description if there is one.

    Args:
        definition: of the kind.
        texts: descriptions by kind and by the path of the field.
    """
    version = stored_version(definition)
    own = {**texts[EVERY_KIND], **texts.get(kind_of(definition), {})}
    fields = fields_of(version["schema"]["openAPIV3Schema"])
    return [one if one.description else replace(one, description=own.get(one.path, "")) for one in fields]


def stored_version(definition: Object) -> Mapping[str, Any]:
    """The version of a definition in which the API server stores its objects."""
    return next(one for one in definition["spec"]["versions"] if one["storage"])


def kind_of(definition: Object) -> str:
    """The kind that a definition defines."""
    return str(definition["spec"]["names"]["kind"])


def description_of(definition: Object, texts: Mapping[str, Mapping[str, str]]) -> str:
    """What the objects of a kind are."""
    schema = stored_version(definition)["schema"]["openAPIV3Schema"]
    return str(schema.get("description") or texts[kind_of(definition)][""])


def read_texts() -> dict[str, dict[str, str]]:
    """The descriptions of kinds and fields, by kind; that of the kind has the empty path."""
    return dict(yaml.safe_load(TEXTS.read_text(encoding="utf-8")))


def record_page() -> str:
    """The page in Markdown."""
    texts = read_texts()
    sections = [_section(one, texts) for one in record_definitions()]
    return "\n".join(
        (
            "# Records",
            "",
            "The collection stores what it must remember as custom resources in the cluster."
            " `kubectl get kyma-lifecycle` lists all of them.",
            "",
            *sections,
        )
    )


def _section(definition: Object, texts: Mapping[str, Mapping[str, str]]) -> str:
    spec = definition["spec"]
    served: Sequence[str] = [one["name"] for one in spec["versions"] if one["served"]]
    names = ", ".join(f"`{name}`" for name in spec["names"]["shortNames"])
    return "\n".join(
        (
            f"## {kind_of(definition)}",
            "",
            description_of(definition, texts),
            "",
            f"`{definition['metadata']['name']}`, short {names},"
            f" {'in a namespace' if spec['scope'] == 'Namespaced' else 'for the whole cluster'},"
            f" served as {', '.join(f'`{name}`' for name in served)}.",
            "",
            table(iter(described_fields(definition, texts))),
            "",
        )
    )
