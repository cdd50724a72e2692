# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The wanted Errand, from the options of a task, with all its problems: pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ..._cluster.cluster import API_VERSION, Object
from ..._deep_copy import deep_copy
from ..._dry_run.crd_schema import Misfit, ViolationType, misfits
from ..._jobs.secret_validation import is_object_name
from ..._loose_json import mapping_of, text_of
from ..._text import one_line, suggestion
from ..errand_definition import ERRAND_RESOURCE
from ..errand_model import KIND, Errand, ErrandKey, Strategy, errand_from
from ..errand_validation import errand_problems
from ..quarks_job import (
    QUARKS_API_VERSION,
    QUARKS_KIND,
    author_metadata,
    errand_from_quarks_job,
    is_quarks_job,
)


@dataclass(frozen=True)
class ErrandRequest:
    """An errand as the options of a task describe it.

    Attributes:
        name, namespace: where the definition does not have them.
        definition: an Errand or a QuarksJob.
        template, output, reruns_on_change: in place of a definition; None for those that are not set.
        trigger: when it runs; empty for the trigger of the definition.
    """

    name: str = ""
    namespace: str = ""
    definition: Mapping[str, Any] | None = None
    template: Mapping[str, Any] | None = None
    output: Mapping[str, Any] | None = None
    reruns_on_change: bool | None = None
    trigger: str = ""

    @property
    def declares_nothing(self) -> bool:
        """Whether it only requests a run of an existing errand, no matter who has declared it."""
        given = (self.definition, self.template, self.output, self.reruns_on_change)
        return self.trigger == Strategy.NOW and all(one is None for one in given)


@dataclass(frozen=True)
class DesiredErrand:
    """The errand that is wanted.

    Attributes:
        obj: the object to apply.
        warnings: ignored fields, and differences from a QuarksJob.
        problems: why it can't be applied, each in a sentence.
    """

    obj: Object
    warnings: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()

    @property
    def key(self) -> ErrandKey:
        """The key of the errand; empty if it has no name."""
        meta = self.obj["metadata"]
        return ErrandKey(text_of(meta.get("namespace")), text_of(meta.get("name")))

    @property
    def errand(self) -> Errand:
        """The model of the errand. Use it only if there are no problems."""
        return errand_from(self.obj)

    def with_strategy(self, strategy: Strategy) -> DesiredErrand:
        """The same errand with another trigger."""
        obj = deep_copy(self.obj)
        obj["spec"]["trigger"] = {"strategy": str(strategy)}
        return DesiredErrand(obj, self.warnings, self.problems)


def desired_errand(request: ErrandRequest) -> DesiredErrand:
    """The errand that the options of a task ask for, with all its problems."""
    warnings: list[str] = []
    problems: list[str] = []
    obj = _object(request, warnings, problems)
    if not problems:
        _name(obj, request, problems)
        _set_strategy(obj, request)
        if request.definition is None and request.template is None:
            problems.append("what it runs is missing. Set template or definition")
            obj["spec"]["template"] = {}
        problems += [_misfit_text(misfit) for misfit in misfits(obj, ERRAND_RESOURCE.schema)]
        if not problems:
            problems += errand_problems(errand_from(obj))
    return DesiredErrand(obj, tuple(warnings), tuple(dict.fromkeys(problems)))


def existing_errand(request: ErrandRequest, live: Object | None) -> DesiredErrand:
    """An existing errand that only runs, with all its problems.

    Args:
        request: a request that declares nothing.
        live: the errand in the cluster.
    """
    problems: list[str] = []
    obj: Object = {"apiVersion": API_VERSION, "kind": KIND, "metadata": {}, "spec": {}}
    _name(obj, request, problems)
    if not problems and live is None:
        problems.append("it does not exist. Declare it by template or definition, or correct its name")
    if live is not None:
        obj["spec"] = deep_copy(live["spec"])
        problems += errand_problems(errand_from(live))
    return DesiredErrand(obj, (), tuple(problems))


def _object(request: ErrandRequest, warnings: list[str], problems: list[str]) -> Object:
    definition = request.definition
    if definition is None:
        spec = {
            "trigger": {"strategy": str(Strategy.MANUAL)},
            "template": request.template,
            "output": request.output,
            "updateOnConfigChange": request.reruns_on_change,
        }
        given = {name: deep_copy(value) for name, value in spec.items() if value is not None}
        return {"apiVersion": API_VERSION, "kind": KIND, "metadata": {}, "spec": given}
    if is_quarks_job(definition):
        converted = errand_from_quarks_job(definition)
        name = one_line(text_of(mapping_of(definition.get("metadata")).get("name")), 100)
        warnings += [f"QuarksJob {name}: {text}" for text in converted.ignored]
        if converted.differences:
            warnings.append(f"QuarksJob {name}, as an Errand: " + "; ".join(converted.differences))
        return converted.errand
    api_version, kind = definition.get("apiVersion"), definition.get("kind")
    if kind != KIND or api_version != API_VERSION:
        problems.append(
            f"definition is {one_line(kind, 100)} of {one_line(api_version, 100)}. Give an object of kind"
            f" {KIND} ({API_VERSION}) or {QUARKS_KIND} ({QUARKS_API_VERSION})"
        )
        return {"apiVersion": API_VERSION, "kind": KIND, "metadata": {}}
    written = deep_copy({name: value for name, value in definition.items() if name != "status"})
    return {
        **written,
        "apiVersion": API_VERSION,
        "metadata": author_metadata(mapping_of(definition.get("metadata"))),
    }


def _name(obj: Object, request: ErrandRequest, problems: list[str]) -> None:
    meta = obj["metadata"]
    for field, given in (("name", request.name), ("namespace", request.namespace)):
        written = text_of(meta.get(field))
        if not written and not given:
            problems.append(f"{field} is missing. Set {field}, or metadata.{field} in the definition")
        elif written and given and written != given:
            problems.append(
                f"{field} is {given}, and metadata.{field} of the definition is {one_line(written, 100)}."
                f" Remove one of them, or make them equal"
            )
        meta[field] = written or given
    if meta["name"] and not is_object_name(meta["name"]):
        problems.append(
            f"name {one_line(meta['name'], 100)} is not valid. Use lower case letters, digits, '-' and '.'"
        )


def _set_strategy(obj: Object, request: ErrandRequest) -> None:
    spec = obj.get("spec")
    if not isinstance(spec, dict) or not request.trigger:
        return
    trigger = spec.get("trigger")
    if request.trigger != Strategy.NOW:
        spec["trigger"] = {"strategy": request.trigger}
    elif not isinstance(trigger, dict) or trigger.get("strategy") == Strategy.NOW:
        # An annotation requests the run, so that each call runs it.
        spec["trigger"] = {"strategy": str(Strategy.MANUAL)}


def _misfit_text(misfit: Misfit) -> str:
    if misfit.fault is not ViolationType.UNKNOWN:
        return f"{one_line(misfit.field, 200)}: {one_line(misfit.message, 300)}"
    path, _dot, name = misfit.field.rpartition(".")
    hint = suggestion(name, _known_fields(path), 1) or "remove it, or correct its name"
    return f"{one_line(misfit.field, 200)} is no field of {KIND}; {hint}"


def _known_fields(path: str) -> Iterator[str]:
    schema: Mapping[str, Any] = ERRAND_RESOURCE.schema
    for step in filter(None, path.split(".")):
        properties = mapping_of(schema.get("properties"))
        schema = mapping_of(properties.get(step) or schema.get("additionalProperties"))
    yield from mapping_of(schema.get("properties"))
