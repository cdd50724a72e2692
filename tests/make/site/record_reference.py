# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The page with each kind of record and each of its fields, from the definitions that a run installs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.errand_definition import (
    ERRAND_RESOURCE,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._store.store_kinds import (
    STORE_KINDS,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._tasks.shared.record_kinds import RECORD_KINDS

from .schema_fields import fields_of, table


def record_definitions() -> list[Object]:
    """The CustomResourceDefinitions of all kinds of the collection."""
    return [*RECORD_KINDS.definitions, ERRAND_RESOURCE.definition, *STORE_KINDS.definitions]


def stored_version(definition: Object) -> Mapping[str, Any]:
    """The version of a definition in which the API server stores its objects."""
    return next(one for one in definition["spec"]["versions"] if one["storage"])


def kind_of(definition: Object) -> str:
    """The kind that a definition defines."""
    return str(definition["spec"]["names"]["kind"])


def record_page() -> str:
    """The page in Markdown."""
    sections = [_section(one) for one in record_definitions()]
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


def _section(definition: Object) -> str:
    spec = definition["spec"]
    schema = stored_version(definition)["schema"]["openAPIV3Schema"]
    served: Sequence[str] = [one["name"] for one in spec["versions"] if one["served"]]
    names = ", ".join(f"`{name}`" for name in spec["names"]["shortNames"])
    return "\n".join(
        (
            f"## {kind_of(definition)}",
            "",
            schema["description"],
            "",
            f"`{definition['metadata']['name']}`, short {names},"
            f" {'in a namespace' if spec['scope'] == 'Namespaced' else 'for the whole cluster'},"
            f" served as {', '.join(f'`{name}`' for name in served)}.",
            "",
            table(fields_of(schema)),
            "",
        )
    )
