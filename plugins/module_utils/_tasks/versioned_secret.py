# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The task ``versioned_secret``: writes the next version of a Secret, or deletes versions."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from .._batch import Batch
from .._carrier.task import Result, Task, TaskDefinition
from .._cluster.owner_references import owners_in
from .._errands.versions.errand_users import read_errand_users
from .._errors import LifecycleError
from .._jobs.version_pruning import (
    PruneTerms,
    RemovedVersions,
    foreign_warning,
    prune_versions,
    remove_versions,
)
from .._jobs.version_retention import Retention
from .._jobs.version_writer import VersionContent, WrittenVersion, read_versions, write_version
from .._jobs.versioned_secrets import SecretVersion, newest_version
from .._objects.apply.diff import diff_of

PRESENT, ABSENT = "present", "absent"


def versioned_secret(task: Task) -> Result:
    """Write or delete versions of one base."""
    params = task.params
    _refuse_options(params)
    return _absent(task, params) if params["state"] == ABSENT else _present(task, params)


def _present(task: Task, params: Mapping[str, Any]) -> Result:
    namespace, keep = params["namespace"], params["keep"]
    content = VersionContent(
        namespace,
        params["name"],
        params["data"],
        params["labels"],
        params["annotations"],
        params["source_description"],
    )
    versions = read_versions(task.cluster, namespace)
    written = write_version(task.cluster, content, versions=versions, dry_run=task.check_mode)
    pruned, batch = RemovedVersions(), _batch(task)
    if keep is not None:
        newest = SecretVersion(namespace, params["name"], written.version, written.name)
        retentions = {newest: Retention(keep, params["keep_seconds"] or 0)}
        more_users = partial(read_errand_users, task.cluster, namespace)
        terms = PruneTerms(more_users=more_users, batch=batch)
        pruned = prune_versions(task.cluster, namespace, versions, retentions, terms, dry_run=task.check_mode)
    result: Result = {
        "changed": written.is_new or bool(pruned.removed),
        "name": written.name,
        "version": written.version,
        "removed": list(pruned.removed),
        "warnings": _warnings(
            written.warning, _owned_warning(written), foreign_warning(namespace, pruned.foreign)
        ),
    }
    if task.diff:
        result["diff"] = [*_diff_of_new(written), *_diffs_of_removed(params, pruned.removed)]
    if pruned.failure:
        text = f"{pruned.failure} The newest version is {written.name}."
        result |= {"failed": True, "msg": text}
    return result | batch.stopped()


def _absent(task: Task, params: Mapping[str, Any]) -> Result:
    namespace, base = params["namespace"], params["name"]
    versions, batch = read_versions(task.cluster, namespace), _batch(task)
    removed, foreign, failure = remove_versions(
        task.cluster,
        namespace,
        base,
        version=params["version"],
        versions=versions,
        force=params["force"],
        more_users=partial(read_errand_users, task.cluster, namespace),
        dry_run=task.check_mode,
        batch=batch,
    )
    newest = newest_version(base, (one for one in versions.of(base) if one.name not in removed))
    result: Result = {
        "changed": bool(removed),
        "name": newest.name if newest else "",
        "version": newest.version if newest else 0,
        "removed": list(removed),
        "warnings": _warnings(foreign_warning(namespace, foreign)),
    }
    if task.diff:
        result["diff"] = _diffs_of_removed(params, removed)
    if failure:
        result |= {"failed": True, "msg": f"{failure} Nothing was deleted."}
    return result | batch.stopped()


def _batch(task: Task) -> Batch:
    """The deletion of versions."""
    name = f"Secret {task.params['namespace']}/{task.params['name']}"
    return task.batch(name, "deleting", "versions")


def _warnings(*warnings: str) -> list[str]:
    return [one for one in warnings if one]


def _owned_warning(written: WrittenVersion) -> str:
    """The warning that the newest version, which has the content already, belongs to an object of others."""
    owner = next(iter(owners_in(written.secret)), None)
    if written.is_new or owner is None:
        return ""
    meta = written.secret["metadata"]
    return (
        f"Secret {meta['namespace']}/{meta['name']} has this content already, and belongs to"
        f" {owner.get('kind')} {owner.get('name')}. It is deleted with its owner."
    )


def _refuse_options(params: Mapping[str, Any]) -> None:
    secret = f"Secret {params['namespace']}/{params['name']}"
    if params["state"] == PRESENT and params["version"] is not None:
        raise LifecycleError(
            f"cannot write a version of {secret}: version is {params['version']}, but the task numbers new"
            " versions by itself. Remove version, or delete that one with state=absent."
        )
    if params["keep_seconds"] is not None and params["keep"] is None:
        raise LifecycleError(
            f"cannot write a version of {secret}: keep_seconds has no effect without keep, as all versions"
            " stay. Set keep, or remove keep_seconds."
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
        "keep_seconds": {"type": "int"},
        "version": {"type": "int"},
        "force": {"type": "bool", "default": False},
    },
    required_if=[("state", PRESENT, ("data",))],
    secret_options=("data",),
)
