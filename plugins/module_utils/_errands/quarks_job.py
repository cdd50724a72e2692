# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An Errand from a QuarksJob: pure. It lists what QuarksJob ignored, and what differs here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from .._cluster.cluster import API_VERSION, Object
from .._deep_copy import deep_copy
from .._loose_json import mapping_of, text_of
from .._text import one_line, suggestion
from .errand_model import KIND, LAST_APPLIED, Strategy
from .finished_run import DELETE_LABEL
from .holding_container import holder_name

QUARKS_API_VERSION, QUARKS_KIND = "quarks.cloudfoundry.org/v1alpha1", "QuarksJob"

_SPEC = ("output", "template", "trigger", "updateOnConfigChange")
_OUTPUT = ("outputMap", "secretLabels", "writeOnFailure")
_FILE = ("name", "persistencemethod", "persistenceMethod", "secretAnnotations", "secretLabels", "versioned")
_METADATA = ("annotations", "labels", "name", "namespace")
_OF_THE_SERVER = frozenset(
    {"creationTimestamp", "generation", "managedFields", "resourceVersion", "selfLink", "uid"}
)
"""Fields of metadata that an exported object has, and that nobody has written."""
_MOST_WORDS = 100


@dataclass(frozen=True)
class ConvertedErrand:
    """An Errand that does what a QuarksJob did.

    Attributes:
        errand: the object.
        ignored: the fields that it omits, each in a sentence.
        differences: how it differs from the QuarksJob, each in a sentence.
    """

    errand: Object
    ignored: tuple[str, ...] = ()
    differences: tuple[str, ...] = ()


def is_quarks_job(obj: Mapping[str, Any]) -> bool:
    """Whether an object is a QuarksJob."""
    return (obj.get("apiVersion"), obj.get("kind")) == (QUARKS_API_VERSION, QUARKS_KIND)


def errand_from_quarks_job(obj: Mapping[str, Any]) -> ConvertedErrand:
    """The Errand for a QuarksJob. It does not validate types of values; the definition of Errand does that.

    Args:
        obj: the QuarksJob, as it was written or exported.
    """
    ignored: list[str] = []
    spec = _known("spec", mapping_of(obj.get("spec")), _SPEC, ignored)
    if isinstance(spec.get("template"), Mapping):
        spec["template"] = _template(spec["template"], ignored)
    if isinstance(spec.get("trigger"), Mapping):
        spec["trigger"] = _known("spec.trigger", spec["trigger"], ("strategy",), ignored)
    if spec.get("output") is None:
        spec.pop("output", None)
    elif isinstance(spec["output"], Mapping):
        spec["output"] = _output(spec["output"], ignored)
    errand: Object = {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "metadata": _metadata(mapping_of(obj.get("metadata")), ignored),
        "spec": spec,
    }
    ignored += [
        _left_out(name, "an object has only metadata, spec and status")
        for name in sorted(obj.keys() - {"apiVersion", "kind", "metadata", "spec", "status"})
    ]
    return ConvertedErrand(errand, tuple(ignored), tuple(_differences(spec)))


def _left_out(path: str, reason: str) -> str:
    return f"{one_line(path, _MOST_WORDS)} is left out: {reason}"


def _known(path: str, fields: Mapping[str, Any], names: Iterable[str], ignored: list[str]) -> Object:
    """The fields that both kinds have."""
    names = tuple(names)
    for name in sorted(fields.keys() - set(names), key=str):
        reason = "neither QuarksJob nor Errand has this field, so it had no effect"
        hint = suggestion(str(name), names, 1)
        ignored.append(_left_out(f"{path}.{name}", "; ".join(filter(None, (reason, hint)))))
    return {name: deep_copy(fields[name]) for name in names if name in fields}


def _template(template: Mapping[str, Any], ignored: list[str]) -> Object:
    for name in sorted(template.keys() - {"metadata", "spec"}, key=str):
        reason = "it is beside template.spec, where QuarksJob ignored it as well"
        if name != "backoffLimit":
            reason += f". If the Job needs it, move it to template.spec.{name}"
        ignored.append(_left_out(f"spec.template.{name}", reason))
    return {name: deep_copy(template[name]) for name in ("metadata", "spec") if name in template}


def _output(output: Mapping[str, Any], ignored: list[str]) -> Object:
    fields = _known("spec.output", output, _OUTPUT, ignored)
    for container, files in mapping_of(fields.get("outputMap")).items():
        for file, entry in mapping_of(files).items():
            if isinstance(entry, Mapping):
                path = f"spec.output.outputMap.{container}[{file}]"
                known = _known(path, entry, _FILE, ignored)
                if (method := known.pop("persistencemethod", None)) is not None:
                    known.setdefault("persistenceMethod", method)
                fields["outputMap"][container][file] = known
    return fields


def author_metadata(metadata: Mapping[str, Any]) -> Object:
    """The part of an object's metadata that its author writes, without what an export adds."""
    fields = {name: deep_copy(metadata[name]) for name in _METADATA if metadata.get(name) is not None}
    if isinstance(fields.get("annotations"), dict):
        fields["annotations"].pop(LAST_APPLIED, None)
    return fields


def _metadata(metadata: Mapping[str, Any], ignored: list[str]) -> Object:
    fields = author_metadata(metadata)
    ignored += [
        _left_out(f"metadata.{name}", "it belongs to the QuarksJob alone")
        for name in sorted(metadata.keys() - {*_METADATA, *_OF_THE_SERVER}, key=str)
    ]
    return {name: value for name, value in fields.items() if value != {}}


def _differences(spec: Mapping[str, Any]) -> Iterator[str]:
    tests: tuple[Callable[[Mapping[str, Any]], Iterator[str]], ...] = (_of_runs, _of_trigger, _of_output)
    for test in tests:
        yield from test(spec)


def _of_runs(spec: Mapping[str, Any]) -> Iterator[str]:
    job = mapping_of(mapping_of(spec.get("template")).get("spec"))
    if "backoffLimit" not in job:
        yield "a failed run is not repeated: backoffLimit is 0, and not 6 as in Kubernetes"
    pod = mapping_of(mapping_of(job.get("template")).get("metadata"))
    key, value = DELETE_LABEL
    if mapping_of(pod.get("labels")).get(key) != value:
        yield (
            "the pod of a succeeded run belongs to the errand, and is deleted with it. To delete it with its"
            f" Job, set the label {key}: {value} in spec.template.spec.template.metadata"
        )


def _of_trigger(spec: Mapping[str, Any]) -> Iterator[str]:
    strategy = text_of(mapping_of(spec.get("trigger")).get("strategy"))
    if strategy == Strategy.ONCE:
        yield "trigger.strategy once runs once for each template, so a changed template runs again"
    if strategy == Strategy.NOW:
        yield (
            "trigger.strategy now that is applied runs once for each template, however often it is applied."
            " To run the errand at each call, use trigger: now of the module kyma.lifecycle.errand"
        )
    if strategy == Strategy.DONE and spec.get("updateOnConfigChange") is True:
        yield (
            "with trigger.strategy done and no run of its own yet, updateOnConfigChange has no effect. Set"
            " once, so that the errand knows with which configuration it has run"
        )


def _of_output(spec: Mapping[str, Any]) -> Iterator[str]:
    outputs = mapping_of(mapping_of(spec.get("output")).get("outputMap"))
    if not outputs:
        return
    holders = ", ".join(one_line(holder_name(str(name)), _MOST_WORDS) for name in sorted(outputs, key=str))
    yield (
        f"each container with output gets a container beside it that holds the output until it is read"
        f" ({holders}); its image has to be pullable, see holder_image"
    )
    files = [mapping_of(entry) for one in outputs.values() for entry in mapping_of(one).values()]
    if any(file.get("versioned") is True for file in files):
        yield "an output that is the same as the newest version makes no new version"
