# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Converts documents to Kubernetes objects, and separates Helm's hooks."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from .._cluster.cluster import Object, ref_of
from .._cluster.kinds import is_crd
from .._cluster.own_objects import own_manifest_problem, own_object_problem
from .._text import is_plain_line, one_line, short_list, shown_value
from .crd_kinds import crd_problem
from .limits import DEFAULT_LIMITS, beyond_objects
from .release_error import Problem, ReleaseError, release_error
from .yaml_documents import Document, read_documents

HOOK_ANNOTATION = "helm.sh/hook"
MOST_LEVELS = 100
"""The limit of nested mappings and lists: real releases have 35, and Python fails at little more than 250."""
SERVER_FIELDS = (
    *("creationTimestamp", "deletionGracePeriodSeconds", "deletionTimestamp", "generation", "managedFields"),
    *("resourceVersion", "selfLink", "uid"),
)
"""Fields of ``metadata`` that only an API server sets. A manifest that was dumped from a cluster has them."""


@dataclass
class ManifestCollection:
    """The contents of some files, in their order.

    Attributes:
        objects: the objects to deploy.
        hooks: Helm hooks that were skipped, as ``Job pre-upgrade-thing (pre-upgrade)``.
        problems: documents that can't be objects.
        warnings: content that kubectl accepts silently although it is probably a mistake.
        keeps_hooks: whether Helm hooks are treated as other objects, as in manifests without Helm.
        namespace: of objects that name none.
        most: the limit of documents in a text, and of objects.
        dumps: files with fields that only a server sets, in their order. They are left out later.
    """

    objects: list[Object] = field(default_factory=list)
    hooks: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    keeps_hooks: bool = False
    namespace: str = ""
    most: int = DEFAULT_LIMITS.objects
    dumps: dict[str, None] = field(default_factory=dict)

    def add_text(
        self, text: str, file: str, line_source: Callable[[int], tuple[str, int]] | None = None
    ) -> None:
        """Add all objects of a text.

        Args:
            text: YAML, or JSON if ``file`` ends in ``.json``.
            file: its name in messages.
            line_source: returns the file and line to name for a line of the text, if the text was rendered.
        """
        try:
            self._add_text(text, file, line_source)
        except ReleaseError as error:
            self.problems.extend(error.problems)

    def _add_text(self, text: str, file: str, line_source: Callable[[int], tuple[str, int]] | None) -> None:
        for document in read_file_documents(text, file, self.most):
            where = line_source(document.line) if line_source else (file, document.line)
            for key, line in document.duplicates:
                shown, at = line_source(line) if line_source else (file, line)
                self.warnings.append(
                    str(Problem(f"the key {shown_value(key)} is there twice; the last one counts", shown, at))
                )
            if is_nested_deeper(document.value, MOST_LEVELS):
                self.problems.append(Problem(f"nested too deeply: more than {MOST_LEVELS} levels", *where))
                continue
            self._add(document.value, *where)

    def _add(self, value: Any, file: str, line: int) -> None:
        if is_object_list(value):
            for item in value["items"]:
                self._add(item, file, line)
            return
        if len(self.objects) + len(self.hooks) + len(self.problems) >= self.most:
            raise release_error(f"there are {beyond_objects(self.most)}", file, line)
        reason = object_problem(value) or self._own_problem(value)
        if reason:
            self.problems.append(Problem(reason, file, line))
            return
        if is_dump(value):
            self.dumps[file] = None
        hook = () if self.keeps_hooks else hooks_of(value)
        if not hook:
            self.objects.append(value)
        elif not all(phase.startswith("test") for phase in hook):
            self.hooks.append(one_line(f"{value['kind']} {value['metadata']['name']} ({', '.join(hook)})"))

    def _own_problem(self, obj: Object) -> str:
        """Why an object is refused because only this collection may write it; mostly empty."""
        ref = ref_of(obj)
        in_namespace = ref._replace(namespace=ref.namespace or self.namespace)
        problem = own_manifest_problem(obj) or own_object_problem(in_namespace)
        return f"{problem}. Remove it from the manifest" if problem else ""


def read_file_documents(text: str, file: str, most: int = DEFAULT_LIMITS.objects) -> list[Document]:
    """The documents of a text: JSON if ``file`` ends in ``.json``, else YAML.

    Raises:
        ReleaseError: it is neither, or has more than ``most`` documents; with file, line and column.
    """
    return _json_document(text, file) if file.endswith(".json") else read_documents(text, file, most=most)


def is_dump(obj: Object) -> bool:
    """Whether an object has content that only an API server writes, as ``kubectl get -o yaml`` prints it.

    Generators write an empty ``status``, and controller-gen one for a CRD.
    """
    in_metadata = any(map(obj["metadata"].get, SERVER_FIELDS))
    return in_metadata or (not is_crd(obj) and _has_content(obj.get("status")))


def _has_content(value: Any) -> bool:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    return bool(value) if inner is None else any(map(_has_content, inner))


def dump_warnings(files: Sequence[str]) -> list[str]:
    """One warning for all files with fields of a server; none without files."""
    if not files:
        return []
    return [
        f"{short_list(files, 10)}: fields that only the API server sets were left out, such as status, uid "
        "and resourceVersion. These files look like dumps of a cluster: remove such fields"
    ]


def hooks_of(obj: Object) -> tuple[str, ...]:
    """The Helm hooks of an object. Only ``helm.sh/hook`` defines them, not a weight or a policy.

    A CRD is never a hook: ``crd-install`` was Helm 2's way to install it before its users.
    """
    if is_crd(obj):
        return ()
    value = (obj["metadata"].get("annotations") or {}).get(HOOK_ANNOTATION)
    return tuple(filter(None, (phase.strip() for phase in str(value or "").split(","))))


def object_problem(value: Any) -> str:
    """The reason that a value is not a deployable object; empty if it is one."""
    if not isinstance(value, dict):
        return "not a Kubernetes object, but a " + ("list" if isinstance(value, list) else "plain value")
    for key in ("apiVersion", "kind"):
        if not isinstance(value.get(key), str) or not value[key]:
            return f"not a Kubernetes object: it has no {key}" + _named(value)
        if not is_plain_line(value[key]):
            return f"not a Kubernetes object: its {key} is {shown_value(value[key])}"
    metadata = value.get("metadata")
    if not isinstance(metadata, dict):
        return f"the {value['kind']} has no metadata"
    if not metadata.get("name") and metadata.get("generateName"):
        return f"the {value['kind']} has a generateName: each deployment would make another: give it a name"
    for key in ("name", "namespace"):
        if key in metadata and metadata[key] is not None and not isinstance(metadata[key], str):
            taken_for = f"the {value['kind']}'s metadata.{key} is {shown_value(metadata[key])} to YAML"
            return f"{taken_for}, not a string: put it in quotes"
        if not is_plain_line(metadata.get(key) or ""):
            return f"the {value['kind']}'s metadata.{key} is {shown_value(metadata[key])}, which is no name"
    if not metadata.get("name"):
        return f"the {value['kind']} has no metadata.name"
    if metadata.get("ownerReferences"):
        return (
            f"the {value['kind']} {metadata['name']} has ownerReferences. No owner has these uids in another "
            "cluster, so its garbage collector would delete the object: remove them"
        )
    for key in ("annotations", "labels"):
        if not isinstance(metadata.get(key) or {}, dict):
            return f"the {key} of {value['kind']} {metadata['name']} are no mapping"
    if value["kind"] != "CustomResourceDefinition":
        return ""

    return crd_problem(value)


def is_object_list(value: Any) -> bool:
    """Whether a value is a list of objects in kubectl's format, with the objects in ``items``."""
    if not isinstance(value, dict) or not isinstance(value.get("items"), list):
        return False
    kind, metadata = value.get("kind"), value.get("metadata")
    is_named = isinstance(metadata, dict) and metadata.get("name")
    return isinstance(kind, str) and kind.endswith("List") and not is_named


def is_nested_deeper(value: Any, levels: int) -> bool:
    """Whether mappings and lists are nested in more levels than these."""
    level = [value] if isinstance(value, dict | list) else []
    for _level in range(levels):
        if not level:
            return False
        inner = (one.values() if isinstance(one, dict) else one for one in level)
        level = [one for some in inner for one in some if isinstance(one, (dict, list))]
    return bool(level)


def objects_digest(objects: Iterable[Object]) -> str:
    """sha256 over objects, independent of the order of their keys."""
    digest = hashlib.sha256()
    for obj in objects:
        digest.update(json.dumps(obj, sort_keys=True, separators=(",", ":")).encode() + b"\n")
    return digest.hexdigest()


def _no_constant(name: str) -> None:
    raise json.JSONDecodeError(f"{name} is no number of JSON", "", 0)


def _finite(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise ValueError(f"the number {text[:40]} is too large")
    return number


def _named(value: dict[str, Any]) -> str:
    metadata = value.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else None
    return f" (its name is {one_line(name)})" if name else ""


def _json_document(text: str, file: str) -> list[Document]:
    try:
        value = json.loads(text, parse_constant=_no_constant, parse_float=_finite)
        if "\\ud" in text.lower():
            # Half of a surrogate pair is no character, and can't be sent.
            json.dumps(value, ensure_ascii=False).encode()
        return [Document(value, 1, tuple(_json_duplicates(text)))]
    except json.JSONDecodeError as error:
        raise ReleaseError([Problem(f"not JSON: {error.msg}", file, error.lineno, error.colno)]) from error
    except RecursionError as error:
        raise release_error("nested too deeply", file) from error
    except ValueError as error:
        raise release_error(f"Kubernetes can't take this: {error}", file) from error


def _json_duplicates(text: str) -> Iterator[tuple[str, int]]:
    """Keys that an object has twice, each with its line, in valid JSON."""
    keys: list[set[str]] = []
    line, start = 1, 0
    for token in re.finditer(r'[{}]|("(?:[^"\\]|\\.)*")(\s*:)?', text):
        if token[0] == "{":
            keys.append(set())
        elif token[0] == "}":
            keys.pop()
        elif token[2]:
            key = json.loads(token[1])
            if key in keys[-1]:
                line, start = line + text.count("\n", start, token.start()), token.start()
                yield key, line
            keys[-1].add(key)
