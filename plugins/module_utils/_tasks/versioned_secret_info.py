# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The task ``versioned_secret_info``: which versions of Secrets there are. It shows no values."""

from __future__ import annotations

from typing import Any

from .._carrier.task import Result, Task, TaskDefinition
from .._cluster.cluster import Object
from .._jobs.versioned_secrets import (
    SECRET_KIND_LABEL,
    SECRET_VERSION_LABEL,
    SOURCE_ANNOTATION,
    VERSIONS_SELECTOR,
    SecretVersion,
    newest_version,
    secret_version,
)
from .._redaction import Redactor

_COPIES_OF_OBJECTS = ("last-applied-configuration", "last-handled-configuration")
"""Suffixes of the names of annotations in which tools store the whole object, its values included."""


def versioned_secret_info(task: Task) -> Result:
    """Read the versions, by namespace and base."""
    names = task.params["names"]
    versions: dict[tuple[str, str], dict[SecretVersion, Object]] = {}
    listed = task.cluster.list("v1", "Secret", task.params["namespace"], label_selector=VERSIONS_SELECTOR)
    for secret in listed.items:
        version = secret_version(secret)
        if version is not None and (not names or version.base in names):
            versions.setdefault((version.namespace, version.base), {})[version] = secret
    return {"changed": False, "secrets": [_as_result(*key, versions[key]) for key in sorted(versions)]}


def _as_result(namespace: str, base: str, versions: dict[SecretVersion, Object]) -> dict[str, Any]:
    newest = newest_version(base, versions)
    return {
        "namespace": namespace,
        "name": base,
        "newest": newest.name if newest else "",
        "newest_version": newest.version if newest else 0,
        "versions": [_version_as_result(one, versions[one]) for one in sorted(versions)],
    }


def _version_as_result(version: SecretVersion, secret: Object) -> dict[str, Any]:
    meta = secret["metadata"]
    redactor = Redactor()
    redactor.note(secret)
    annotations = meta.get("annotations") or {}

    def shown(texts: dict[str, str], *hidden: str) -> dict[str, str]:
        # A label or an annotation of another tool may repeat a value.
        return {name: redactor.clean(text) for name, text in texts.items() if not name.endswith(hidden)}

    return {
        "version": version.version,
        "name": version.name,
        "labels": shown(meta.get("labels") or {}, SECRET_KIND_LABEL, SECRET_VERSION_LABEL),
        "annotations": shown(annotations, SOURCE_ANNOTATION, *_COPIES_OF_OBJECTS),
        "source_description": redactor.clean(annotations.get(SOURCE_ANNOTATION, "")),
        "created": meta.get("creationTimestamp", ""),
        "data_keys": sorted(secret.get("data") or {}),
    }


DEFINITION = TaskDefinition(
    function=versioned_secret_info,
    argument_spec={
        "namespace": {"type": "str"},
        "names": {"type": "list", "elements": "str", "default": [], "aliases": ["name"]},
    },
)
