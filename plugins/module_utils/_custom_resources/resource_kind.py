# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A kind of custom resource of ours: its model declares its fields, and this has the rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Generic, TypeVar

from .._cluster.cluster import API_VERSION, GROUP, VERSION, Object
from .._field_notes import METADATA, SPEC, STATUS, FieldNote
from .._record_codec import from_parts, to_parts
from .storage_version import require_known_version, with_storage_version

Model = TypeVar("Model")
EXAMPLE_NAME = "webhook-check"
"""The name of an example of a kind that may have several objects."""
Column = tuple[str, str, str]
"""Name, type and JSON path."""
Rule = tuple[str, str]
"""A rule in CEL, and the message if an object breaks it."""


@dataclass(frozen=True, eq=False)
class ResourceKind(Generic[Model]):
    """A kind of ours. Its definition is only built when it is needed, as a run with nothing to do needs none.

    Attributes:
        model: the class whose attributes declare the fields.
        plural, short: its other names.
        description: what its objects are, for readers.
        columns: those of ``kubectl get``. With usual names they fit into 100 characters.
        wide_columns: the additional ones of ``-o wide``.
        kind: the name of the kind.
        storage_version: in which objects are written. A change of the fields needs a new one, and a
            conversion.
        notes: what is declared of ``spec`` and ``status`` themselves.
        rules: for the whole object, in CEL.
        required: the parts that an object must have.
        only_name: the name of the only object of this kind, in the cluster or in a namespace; empty if there
            may be several.
        labels: the names of labels that each object has, with values that differ.
        example: a valid record for dry runs; None if no plan tries this kind.
        is_namespaced: whether its objects are in namespaces.
        has_status: whether the status is a subresource.
    """

    model: type[Model]
    kind: str
    plural: str
    short: str
    description: str
    columns: Sequence[Column]
    wide_columns: Sequence[Column] = ()
    storage_version: int = 1
    notes: Mapping[str, FieldNote] = field(
        default_factory=lambda: {
            SPEC: FieldNote("What is recorded."),
            STATUS: FieldNote("What is known of it."),
        }
    )
    rules: Sequence[Rule] = ()
    required: Sequence[str] = ()
    only_name: str = ""
    labels: Sequence[str] = ()
    example: Model | None = None
    is_namespaced: bool = False
    has_status: bool = False

    @property
    def address(self) -> tuple[str, str]:
        """The ``apiVersion`` and the kind."""
        return API_VERSION, self.kind

    @property
    def crd_name(self) -> str:
        """The name of its CustomResourceDefinition."""
        return f"{self.plural}.{GROUP}"

    def read(self, obj: Mapping[str, Any]) -> Model:
        """The model of an object.

        Raises:
            NewerRecord: a newer version of this collection has written it.
        """
        return from_parts(self.model, require_known_version(obj, self.storage_version))

    def object_of(self, record: Model, *, is_compact: bool = True) -> Object:
        """The object of a model.

        Args:
            record: the model.
            is_compact: leave out what is empty, also by default.
        """
        parts = to_parts(record, is_compact=is_compact)
        metadata = {"name": self.only_name, **parts.pop(METADATA, {})}
        identity = {name: metadata[name] for name in ("name", "namespace") if metadata.get(name)}
        obj = {"apiVersion": API_VERSION, "kind": self.kind, METADATA: identity, **parts}
        return with_storage_version(obj, self.storage_version)

    def example_object(self) -> Object:
        """The object of :attr:`example`, with the labels that each object has."""
        if self.example is None:
            raise ValueError(f"{self.kind} has no example")
        obj = self.object_of(self.example)
        obj[METADATA].setdefault("name", EXAMPLE_NAME)
        obj[METADATA]["labels"] |= dict.fromkeys(self.labels, EXAMPLE_NAME)
        return obj

    @cached_property
    def definition(self) -> Object:
        """The CustomResourceDefinition."""
        # Imported here, as a run with nothing to do does not need it.
        from .model_schema import parts_schema, validations

        rules = [*self.rules]
        if self.only_name:
            rules.append(
                (f"self.metadata.name == '{self.only_name}'", f"its name has to be {self.only_name}")
            )
        schema: dict[str, Any] = {
            "type": "object",
            "properties": parts_schema(self.model, self.notes),
            "description": self.description,
        }
        if self.required:
            schema["required"] = [*self.required]
        if rules:
            schema["x-kubernetes-validations"] = validations(rules)
        version: dict[str, Any] = {"name": VERSION, "served": True, "storage": True}
        if self.has_status:
            version["subresources"] = {"status": {}}
        version["schema"] = {"openAPIV3Schema": schema}
        version["additionalPrinterColumns"] = [
            *map(_printer_column, self.columns),
            *({**_printer_column(one), "priority": 1} for one in self.wide_columns),
        ]
        return {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": self.crd_name},
            "spec": {
                "group": GROUP,
                "scope": "Namespaced" if self.is_namespaced else "Cluster",
                "names": {
                    "kind": self.kind,
                    "listKind": f"{self.kind}List",
                    "plural": self.plural,
                    "singular": self.kind.lower(),
                    "shortNames": [self.short],
                    "categories": ["kyma-lifecycle"],
                },
                "versions": [version],
            },
        }

    @property
    def schema(self) -> Mapping[str, Any]:
        """The OpenAPI schema of its objects."""
        schema: Mapping[str, Any] = self.definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
        return schema


def _printer_column(column: Column) -> dict[str, Any]:
    name, type_, path = column
    return {"name": name, "type": type_, "jsonPath": path}
