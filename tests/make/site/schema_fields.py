# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rows for each field of a JSON schema or of an OpenAPI schema, for tables in Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

Schema = Mapping[str, Any]


@dataclass(frozen=True)
class Field:
    """A field of a schema.

    Attributes:
        path: names with dots. `[]` follows a list, and `.*` stands for any key.
        type: its type, with the format or the possible values.
        description: for readers; empty if the schema has none.
        is_required: whether each object has it.
    """

    path: str
    type: str
    description: str
    is_required: bool


def fields_of(
    schema: Schema, definitions: Mapping[str, Schema] | None = None, prefix: str = ""
) -> Iterator[Field]:
    """All fields of an object's schema, in their order, the fields inside a field after it.

    Args:
        schema: of the object.
        definitions: the schemas that a `$ref` names, by name.
        prefix: of the paths.
    """
    for name, unresolved in schema.get("properties", {}).items():
        field = resolved(unresolved, definitions or {})
        path = f"{prefix}{name}"
        yield Field(path, type_text(field), field.get("description", ""), name in schema.get("required", ()))
        yield from _inner(field, path, definitions or {})


def _inner(schema: Schema, path: str, definitions: Mapping[str, Schema]) -> Iterator[Field]:
    yield from fields_of(schema, definitions, f"{path}.")
    for key, suffix in (("items", "[]"), ("additionalProperties", ".*")):
        if isinstance(schema.get(key), Mapping):
            yield from _inner(resolved(schema[key], definitions), f"{path}{suffix}", definitions)


def resolved(schema: Schema, definitions: Mapping[str, Schema]) -> Schema:
    """The schema that a `$ref` names, or the schema itself."""
    name = schema.get("$ref", "").rpartition("/")[2]
    return definitions[name] if name else schema


def type_text(schema: Schema) -> str:
    """The type of a field in words."""
    if "enum" in schema:
        return " ".join(f"`{value}`" for value in schema["enum"])
    if schema.get("type") == "array":
        inner = schema.get("items", {})
        return f"list of {inner['type']}s" if inner.get("type") in ("string", "object", "integer") else "list"
    return str(schema.get("format") or schema.get("type", "any"))


def table(fields: Iterator[Field]) -> str:
    """A table in Markdown with a row for each field."""
    rows = ["| field | type | what it is |", "|---|---|---|"]
    for one in fields:
        said = re.sub(r"\s+", " ", one.description).replace("|", r"\|")
        required = "Required. " if one.is_required else ""
        rows.append(f"| `{one.path}` | {one.type} | {required}{said} |")
    return "\n".join(rows)
