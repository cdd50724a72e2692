# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The task ``versioned_secret``: writes the next version of a Secret, or deletes versions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from .._carrier.task import Result, Task, TaskDefinition
from .._cluster.cluster import Cluster
from .._errands.errand_model import API_VERSION, KIND, errand_from
from .._errors import LifecycleError
from .._jobs.secret_users import SecretUsers, secret_users
from .._jobs.version_writer import (
    VersionContent,
    WrittenVersion,
    foreign_warning,
    read_versions,
    remove_versions,
    write_version,
)
from .._jobs.versioned_secrets import newest_version
from .._objects.apply.diff import diff_of

PRESENT, ABSENT = "present", "absent"


def versioned_secret(task: Task) -> Result:
    """Write or delete versions of one base."""
    params = task.params
    _refuse_options(params)
    return _absent(task, params) if params["state"] == ABSENT else _present(task, params)


def _present(task: Task, params: Mapping[str, Any]) -> Result:
    content = VersionContent(
        params["namespace"],
        params["name"],
        params["data"],
        params["labels"],
        params["annotations"],
        params["source_description"],
    )
    written = write_version(
        task.cluster,
        content,
        keep=params["keep"],
        more_users=partial(read_errand_users, task.cluster, params["namespace"]),
        dry_run=task.check_mode,
    )
    result: Result = {
        "changed": written.is_new or bool(written.removed),
        "name": written.name,
        "version": written.version,
        "removed": list(written.removed),
    }
    result |= _warnings(params, written.foreign)
    if task.diff:
        result["diff"] = [*_diff_of_new(written), *_diffs_of_removed(params, written.removed)]
    if written.prune_failure:
        result |= {"failed": True, "msg": written.prune_failure}
    return result


def _absent(task: Task, params: Mapping[str, Any]) -> Result:
    namespace, base = params["namespace"], params["name"]
    versions = read_versions(task.cluster, namespace, base)
    removed, foreign = remove_versions(
        task.cluster,
        namespace,
        base,
        version=params["version"],
        force=params["force"],
        more_users=partial(read_errand_users, task.cluster, params["namespace"]),
        dry_run=task.check_mode,
    )
    newest = newest_version(base, (one for one in versions if one.name not in removed))
    result: Result = {
        "changed": bool(removed),
        "name": newest.name if newest else "",
        "version": newest.version if newest else 0,
        "removed": list(removed),
    }
    result |= _warnings(params, foreign)
    if task.diff:
        result["diff"] = _diffs_of_removed(params, removed)
    return result


def _warnings(params: Mapping[str, Any], foreign: Sequence[str]) -> Result:
    warning = foreign_warning(params["namespace"], foreign)
    return {"warnings": [warning]} if warning else {}


def _refuse_options(params: Mapping[str, Any]) -> None:
    secret = f"Secret {params['namespace']}/{params['name']}"
    if params["state"] == PRESENT and params["version"] is not None:
        raise LifecycleError(
            f"cannot write a version of {secret}: version is {params['version']}, but the task numbers new"
            " versions by itself. Remove version, or delete that one with state=absent."
        )
    if params["keep"] is not None and params["keep"] < 1:
        raise LifecycleError(
            f"cannot write a version of {secret}: keep is {params['keep']}; the minimum is 1, because the"
            " newest version always stays. Delete all versions with state=absent."
        )


def _diff_of_new(written: WrittenVersion) -> list[dict[str, str]]:
    if not written.is_new:
        return []
    diff = diff_of(written.previous, written.secret)
    if written.previous:
        meta = written.previous["metadata"]
        diff["before_header"] = f"Secret {meta['namespace']}/{meta['name']}"
    return [diff]


def _diffs_of_removed(params: Mapping[str, Any], names: tuple[str, ...]) -> list[dict[str, str]]:
    return [
        diff_of(
            {
                "apiVersion": "v1",
                "kind": "Secret",
                "metadata": {"namespace": params["namespace"], "name": name},
            },
            None,
        )
        for name in names
    ]


def read_errand_users(cluster: Cluster, namespace: str) -> SecretUsers:
    """The Secrets that the errands of a namespace refer to, each with its users."""
    errands = cluster.list(API_VERSION, KIND, namespace).items
    return secret_users(errands, lambda obj: errand_from(obj).spec.pod_template)


DEFINITION = TaskDefinition(
    function=versioned_secret,
    argument_spec={
        "name": {"type": "str", "required": True},
        "namespace": {"type": "str", "required": True},
        "state": {"type": "str", "choices": [PRESENT, ABSENT], "default": PRESENT},
        "data": {"type": "dict", "no_log": True},
        "labels": {"type": "dict", "default": {}},
        "annotations": {"type": "dict", "default": {}},
        "source_description": {"type": "str", "default": "kyma.lifecycle.versioned_secret"},
        "keep": {"type": "int"},
        "version": {"type": "int"},
        "force": {"type": "bool", "default": False},
    },
    required_if=[("state", PRESENT, ("data",))],
    secret_options=("data",),
)
