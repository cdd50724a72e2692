# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""`python -m tests.make.file_schemas`: write JSON schemas of the files that people write, for their editors.

They come from what the readers of these files declare. Where Ansible or a reader converts a value, the schema
allows both: a number where a string is meant, and the text of a number or a boolean, or a template.
A test compares the files with what this writes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import yaml
from ansible_collections.kyma.lifecycle.plugins.module_utils._tasks.module import DEFINITION as MODULE
from ansible_collections.kyma.lifecycle.plugins.module_utils._tasks.shared.requested_jobs import FIELDS_SPEC
from ansible_collections.kyma.lifecycle.plugins.module_utils._tasks.stored_job import DEFINITION as STORED_JOB
from ansible_collections.kyma.lifecycle.plugins.modules import module, stored_job
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._release.component_list import LIST_KEYS
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._release.release_file import RELEASE_KEYS
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._release.yaml_files import Key

from tests.cluster.paths import ROOT

FOLDER = ROOT / "docs" / "schemas"
DIALECT = "http://json-schema.org/draft-07/schema#"
"""All editors know it."""
Schema = dict[str, Any]
SCALAR: Schema = {"type": ["string", "number", "boolean", "null"]}
TEMPLATE: Schema = {"type": "string", "pattern": r"\{\{"}
BOOLEANS = ["yes", "no", "on", "off", "true", "false", "y", "n", "t", "f", "1", "0", 1, 0]
FORMS: Mapping[str, Schema] = {
    "str": SCALAR,
    "path": SCALAR,
    "bool": {"anyOf": [{"type": ["boolean", "null"]}, {"enum": BOOLEANS}, TEMPLATE]},
    "int": {"anyOf": [{"type": ["integer", "null"]}, {"type": "string", "pattern": r"^\s*[+-]?\d+$|\{\{"}]},
    "float": {"anyOf": [{"type": ["number", "null"]}, {"type": "string", "pattern": r"\d|\{\{"}]},
    "dict": {"anyOf": [{"type": ["object", "null"]}, TEMPLATE]},
    "raw": {},
    "json": {},
}
"""By Ansible's type of an option, the values that it takes."""
FORMS_OF_JOBS: Mapping[str, Schema] = {
    "str": {"type": ["string", "null"]},
    "bool": {"type": ["boolean", "null"]},
    "int": {"type": ["integer", "null"]},
    "dict": {"type": ["object", "null"]},
    "raw": {},
}
"""The same for a list of jobs: nothing converts its values."""
QUANTITIES: Collection[str] = ("memory", "cpu")
QUANTITY: Schema = {"type": ["string", "number", "null"]}
"""What Kubernetes takes as a quantity."""
_MARKUP = re.compile(r"\b[A-Z]+\(([^)]+)\)")


def file_schemas() -> dict[str, Schema]:
    """The schemas by the names of their files."""
    return {
        "components.schema.json": {
            **_head("components.yaml", "The component list of a release."),
            **_mapping(LIST_KEYS),
            "anyOf": [{"required": [key]} for key, one in LIST_KEYS.items() if one.entries],
        },
        "release.schema.json": {
            **_head("release.yaml", "What a release says of itself."),
            **_mapping(RELEASE_KEYS),
        },
        "modules.schema.json": {
            **_head("modules.yaml", "A list of modules: the value of kyma_modules."),
            "type": "array",
            "items": _options(
                MODULE.argument_spec["modules"]["options"],
                yaml.safe_load(module.DOCUMENTATION)["options"]["modules"]["suboptions"],
                FORMS,
            ),
        },
        "jobs.schema.json": {
            **_head("jobs.yaml", "A list of jobs for the job store, as the playbook load_jobs reads it."),
            "type": "array",
            "items": _options(
                {
                    **{name: STORED_JOB.argument_spec[name] for name in ("name", "namespace", "type")},
                    **FIELDS_SPEC,
                },
                yaml.safe_load(stored_job.DOCUMENTATION)["options"],
                FORMS_OF_JOBS,
                required=("name", "type"),
            ),
        },
    }


def _head(title: str, description: str) -> Schema:
    return {"$schema": DIALECT, "title": title, "description": description}


def _mapping(keys: Mapping[str, Key]) -> Schema:
    required = [key for key, one in keys.items() if one.required]
    return {
        "type": "object",
        **({"required": required} if required else {}),
        "additionalProperties": False,
        "properties": {key: {"description": one.meaning, **_value(one)} for key, one in keys.items()},
    }


def _value(key: Key) -> Schema:
    if key.entries:
        return {"type": ["array", "null"], "items": _mapping(key.entries)}
    one = SCALAR
    if key.pattern:
        types = ["string", "number", *([] if key.required else ["null"])]
        one = {"type": types, "pattern": f"^(?:{key.pattern.pattern})$"}
    return {"anyOf": [one, {"type": "array", "items": one}]} if key.is_list else one


def _options(
    spec: Mapping[str, Mapping[str, Any]],
    described: Mapping[str, Any],
    forms: Mapping[str, Schema],
    required: Sequence[str] = (),
) -> Schema:
    """The schema of a dictionary of options.

    Args:
        spec: of the options, as Ansible's argument spec.
        described: their documentation.
        forms: the schema of each type.
        required: options that the spec does not require.
    """
    needed = [name for name, one in spec.items() if one.get("required") or name in required]
    return {
        "type": "object",
        **({"required": needed} if needed else {}),
        "additionalProperties": False,
        "properties": {name: _option(name, one, described[name], forms) for name, one in spec.items()},
    }


def _option(
    name: str, spec: Mapping[str, Any], described: Mapping[str, Any], forms: Mapping[str, Schema]
) -> Schema:
    meaning: Schema = {"description": _text(described["description"])}
    if spec.get("default") not in (None, [], {}):
        meaning["default"] = spec["default"]
    template = [TEMPLATE] if forms is FORMS else []
    if "choices" in spec:
        return {**meaning, "anyOf": [{"enum": [*spec["choices"], None]}, *template]}
    kind = spec.get("type", "str")
    if "options" in spec:
        own = _options(spec["options"], described["suboptions"], forms)
        own = {"type": "array", "items": own} if kind == "list" else own
        return {**meaning, "anyOf": [own, {"type": "null"}, *template]}
    if kind == "list":
        own = {"type": ["array", "null"], "items": forms[spec.get("elements", "raw")]}
        # Ansible splits a text at its commas.
        return {**meaning, **({"anyOf": [own, SCALAR]} if template else own)}
    return {**meaning, **(QUANTITY if name in QUANTITIES and not template else forms[kind])}


def _text(description: str | list[str]) -> str:
    paragraphs = [description] if isinstance(description, str) else description
    return _MARKUP.sub(r"\1", "\n".join(paragraphs))


def render(schema: Schema) -> str:
    """The text of a schema's file."""
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def main() -> None:
    """Write all files."""
    FOLDER.mkdir(exist_ok=True)
    for name, schema in file_schemas().items():
        (FOLDER / name).write_text(render(schema), "utf-8")


if __name__ == "__main__":
    main()
