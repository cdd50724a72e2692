# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""`python -m tests.make.results`: write the schema of `kyma_result`, and results into modules' documentation.

Both are made from dataclasses: the type of an attribute is the form of a field, the docstring of the class
its meaning, and the metadata its name and the words that it may be. In the documentation of a module,
`sample` and `returned` are written by people, and stay.
"""

from __future__ import annotations

import inspect
import json
import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints

from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Ref
from ansible_collections.kyma.lifecycle.plugins.module_utils._components.component_health import HealthProblem
from ansible_collections.kyma.lifecycle.plugins.module_utils._migrations.results import MigrationOutcome
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.cluster_result import KymaResult
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.cluster_state import (
    COUNTED,
    REASONED_STATES,
    Changes,
    Hop,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.outcomes import ComponentOutcome, Duration
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.undone_migrations import (
    UndoneMigration,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._rollout.model import Rollout

from tests.cluster.paths import ROOT

SCHEMA = ROOT / "docs" / "kyma_result.schema.json"
MODULES = ROOT / "plugins" / "modules"
ROWS: Mapping[str, Mapping[str, type]] = {
    "component": {"components": ComponentOutcome, "durations": Duration},
    "migration": {"migrations": MigrationOutcome, "undone": UndoneMigration, "durations": Duration},
    "run": {"durations": Duration, "hops": Hop},
}
"""The types of the rows in results of modules, by module and key."""
WHOLE: Mapping[str, type] = {"rollout": Rollout}
"""The types of the fields of results that a module documents with others."""
WIDTH = 110
_RETURN = re.compile(r'(?<=^RETURN = r""")\n.*?(?=""")', re.DOTALL | re.MULTILINE)
_NAME = re.compile(r" *([a-z_]+):")
_WORDS: Mapping[Any, tuple[str, str]] = {
    str: ("str", "string"),
    bool: ("bool", "boolean"),
    int: ("int", "integer"),
    float: ("float", "number"),
    datetime: ("str", "string"),
    Mapping: ("dict", "object"),
    tuple: ("list", "array"),
}
"""The names of types in the documentation of modules, and in JSON schemas."""


@dataclass(frozen=True)
class ResultField:
    """A field of a result.

    Attributes:
        name: of the field.
        type: of its value.
        meaning: a sentence, with words of the code in double backticks.
        words: that it may be; empty for any.
        is_required: whether its value can't be empty.
        is_nullable: whether its value may be null.
    """

    name: str
    type: Any
    meaning: str
    words: tuple[str, ...] = ()
    is_required: bool = False
    is_nullable: bool = False

    @property
    def item(self) -> Any:
        """The type of the items of a list."""
        return get_args(self.type)[0]

    @property
    def is_list(self) -> bool:
        return get_origin(self.type) is tuple


def result_fields(model: type) -> Iterator[ResultField]:
    """The fields of a dataclass in a result, and then its properties that are documented as attributes."""
    meanings, hints = _meanings(model), get_type_hints(model)
    for one in fields(model):
        name, type_ = one.metadata.get("name", one.name), hints[one.name]
        if type_ is Ref and "name" not in one.metadata:
            for part, meaning in _meanings(Ref).items():
                yield ResultField(part, str, meaning)
        elif name:
            is_optional = isinstance(type_, UnionType)
            yield ResultField(
                name,
                get_args(type_)[0] if is_optional else type_,
                meanings[one.name],
                tuple(map(str, one.metadata.get("enum", ()))),
                is_required=one.default is MISSING and one.default_factory is MISSING,
                is_nullable=is_optional and "none" not in one.metadata,
            )
    for name in [name for name in meanings if name not in hints]:
        yield ResultField(name, get_type_hints(getattr(model, name).fget)["return"], meanings[name])


def _meanings(model: type) -> dict[str, str]:
    """What the attributes of a class mean, by its docstring and those of its bases."""
    meanings: dict[str, str] = {}
    for base in reversed(model.__mro__[:-1]):
        _head, _mark, text = inspect.cleandoc(base.__dict__.get("__doc__") or "").partition("Attributes:\n")
        for names, meaning in re.findall(r"^    ([\w, ]+): (.+(?:\n     .+)*)", text, re.MULTILINE):
            meanings |= dict.fromkeys(names.split(", "), " ".join(meaning.split()))
    return meanings


def _kind(type_: Any) -> Any:
    origin = get_origin(type_) or type_
    if is_dataclass(origin):
        return Mapping
    return str if origin is Ref or (isinstance(origin, type) and issubclass(origin, StrEnum)) else origin


def result_schema() -> str:
    """The JSON schema of `kyma_result`."""
    definitions: dict[str, Any] = {
        "moment": {
            "type": "string",
            "pattern": r"^([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z)?$",
            "description": "In UTC; empty for unknown.",
        },
        "changes": {
            "type": "object",
            "additionalProperties": False,
            "required": list(COUNTED),
            "properties": {name: {"type": "integer", "minimum": 0} for name in COUNTED},
        },
    }
    result = _object_schema(KymaResult, definitions)
    result["properties"] |= {"failed": {"type": "boolean"}, "msg": {"type": "string"}}
    result["properties"]["plan"]["properties"] = {
        "unhealthy": {
            "type": "array",
            "items": _reference(HealthProblem, definitions),
            "description": "The objects of unchanged components that are not healthy, as the plan saw them.",
        }
    }
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "kyma_result",
        "description": (inspect.getdoc(KymaResult) or "").split("\n", maxsplit=1)[0],
        **result,
        "allOf": [
            {
                "if": {"properties": {"state": {"enum": list(REASONED_STATES)}}},
                "then": {"properties": {"failures": {"minItems": 1}}},
                "else": {"properties": {"failures": {"maxItems": 0}}},
            }
        ],
        "$defs": definitions,
    }
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def _object_schema(model: type, definitions: dict[str, Any]) -> dict[str, Any]:
    declared = list(result_fields(model))
    return {
        "type": "object",
        "required": [one.name for one in declared],
        "properties": {one.name: _field_schema(one, definitions) for one in declared},
    }


def _reference(model: type, definitions: dict[str, Any]) -> dict[str, Any]:
    name = model.__name__[0].lower() + model.__name__[1:]
    if name not in definitions:
        definitions[name] = {**_object_schema(model, definitions), "additionalProperties": False}
    return {"$ref": f"#/$defs/{name}"}


def _field_schema(one: ResultField, definitions: dict[str, Any]) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": _WORDS[_kind(one.type)][1]}
    if one.type == Changes:
        schema = {"$ref": "#/$defs/changes"}
    elif one.name.endswith("_at"):
        schema = {"$ref": "#/$defs/moment"}
    elif one.words:
        schema = {"enum": list(one.words)}
    elif one.is_list:
        is_text = one.item is str
        items = {"type": "string", "minLength": 1} if is_text else _reference(one.item, definitions)
        schema["items"] = items
    elif one.type in (int, float):
        schema["minimum"] = 0
    elif one.is_required and schema["type"] == "string":
        schema["minLength"] = 1
    if one.is_nullable:
        schema = {"anyOf": [schema, {"type": "null"}]}
    return {**schema, "description": one.meaning.replace("``", "")}


def documented_results(module: str, source: str) -> str:
    """The source of a module, with its results documented by their types.

    Args:
        module: its name.
        source: of the module.
    """
    return _RETURN.sub(
        lambda match: "\n" + "\n".join(_returns(module, match[0].splitlines()[1:])) + "\n", source
    )


def _returns(module: str, lines: list[str]) -> Iterator[str]:
    declared = {one.name: one for one in result_fields(WHOLE[module])} if module in WHOLE else {}
    for name, block in _blocks(lines).items():
        if name in declared:
            yield from _documented(declared[name], block[1:], "")
            continue
        model = ROWS.get(module, {}).get(name)
        for attribute, text in {"": block[:1], **_blocks(block[1:])}.items():
            yield from _contents(model, text[1:], "  ") if model and attribute == "contains" else text


def _blocks(lines: Iterable[str]) -> dict[str, list[str]]:
    """Lines of YAML by the names that begin them; deeper lines belong to the name before them."""
    blocks: dict[str, list[str]] = {}
    depth, name = -1, ""
    for line in lines:
        indent = len(line) - len(line.lstrip())
        depth = indent if depth < 0 else depth
        if indent == depth and (match := _NAME.match(line)):
            name = match[1]
        blocks.setdefault(name, []).append(line)
    return blocks


def _contents(model: type, lines: Iterable[str], indent: str) -> Iterator[str]:
    """The lines about the fields inside of a field."""
    yield f"{indent}contains:"
    known = _blocks(lines)
    for one in result_fields(model):
        yield from _documented(one, known.get(one.name, [""])[1:], f"{indent}  ")


def _documented(one: ResultField, lines: Iterable[str], indent: str) -> Iterator[str]:
    known = _blocks(lines)
    yield f"{indent}{one.name}:"
    indent += "  "
    yield from _description(one, indent)
    yield from known.get("returned", ())
    yield f"{indent}type: {_WORDS[_kind(one.type)][0]}"
    inner = one.item if one.is_list else one.type
    if one.is_list:
        yield f"{indent}elements: {_WORDS[_kind(inner)][0]}"
    if is_dataclass(inner) and isinstance(inner, type):
        yield from _contents(inner, known.get("contains", [""])[1:], indent)
    else:
        yield from known.get("sample", ())


def _description(one: ResultField, indent: str) -> Iterator[str]:
    words = [f"V({word})" for word in one.words]
    said = f" {', '.join(words[:-1])} or {words[-1]}." if words else ""
    text = re.sub("``(.+?)``", r"V(\1)", one.meaning.replace("null", "None")) + said
    line = f"{indent}description: {text}"
    if len(line) <= WIDTH and ": " not in text:
        yield line
        return
    mark = " >-" if ": " in text else ""
    yield f"{indent}description:{mark}"
    first, rest = (f"{indent}  ",) * 2 if mark else (f"{indent}  - ", f"{indent}    ")
    yield from textwrap.wrap(
        text, WIDTH, initial_indent=first, subsequent_indent=rest, break_on_hyphens=False
    )


def documented_modules() -> list[Path]:
    """The modules whose results have types."""
    return [MODULES / f"{name}.py" for name in (*ROWS, *WHOLE)]


def main() -> None:
    """Write all of it."""
    SCHEMA.write_text(result_schema(), encoding="utf-8")
    for file in documented_modules():
        file.write_text(documented_results(file.stem, file.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
