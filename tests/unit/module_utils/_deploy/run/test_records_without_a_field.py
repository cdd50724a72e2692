# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Records that lack a field: another version of the collection, or a person, may have written them.

Whichever optional field a record lacks, the next deployment must end in a result with a reason, never in an
error of Python, and must delete nothing but what the release drops.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import API_VERSION, Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import Invalid
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.model import Release
from ansible_collections.kyma.lifecycle.plugins.module_utils.migration import (
    Context,
    Migration,
    Phase,
    Verdict,
    needed,
    not_needed,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.memory_cluster import (
    MemoryCluster,
)

from tests.support.driver import Deployer, config_map, deployer, deployment, job, release
from tests.support.extent import cases

KINDS = ("KymaInstallation", "KymaInventory", "KymaRun", "KymaJournalEntry")
Path = tuple[str, ...]
EACH = "*"
"""In a path: each item of a list, or each value of a mapping with free keys."""


class MarksTheSettings(Migration):
    """It writes to an object, so that there is a journal."""

    component = "app"
    phase = Phase.POST
    keep = "it is for a test"

    def check(self, ctx: Context) -> Verdict:
        live = ctx.cluster.get("v1", "ConfigMap", "settings", "kyma-system") or {}
        marked = "marked" in (live.get("data") or {})
        return not_needed("it is marked") if marked else needed("it is not marked")

    def run(self, ctx: Context) -> None:
        ctx.cluster.patch("v1", "ConfigMap", "settings", "kyma-system", {"data": {"marked": "yes"}})


def kyma(version: str, *objects: Object) -> Release:
    app = [config_map("settings", version=version), deployment("app", f"app:{version}"), *objects]
    return release(version, {"app": app, "other": [config_map("others")]})


def deployed() -> Deployer:
    someone = deployer(kyma("2.9", config_map("dropped"), job("once")), MarksTheSettings)
    assert someone.deploy()["state"] == "succeeded"
    someone.cluster.with_field_manager("theirs").create(config_map_of_others())
    return someone


def config_map_of_others() -> Object:
    obj = config_map("not-ours", a="b")
    return {**obj, "metadata": {**obj["metadata"], "namespace": "kyma-system"}}


def paths_in(value: Any, path: Path) -> Iterator[Path]:
    """The paths of all fields of a record."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield (*path, key)
            yield from paths_in(inner, (*path, key))
    elif isinstance(value, list):
        for inner in value:
            yield from paths_in(inner, (*path, EACH))


def removed(value: Any, path: Path) -> Any:
    """A value without what is at a path."""
    first, *rest = path
    if isinstance(value, list):
        return [removed(one, tuple(rest)) for one in value]
    if not isinstance(value, dict) or first not in value:
        return value
    if not rest:
        return {key: inner for key, inner in value.items() if key != first}
    return {**value, first: removed(value[first], tuple(rest))}


def records(someone: Deployer, kind: str) -> list[Object]:
    return someone.cluster.list(API_VERSION, kind).items


def all_fields() -> list[tuple[str, Path]]:
    someone = deployed()
    fields = {
        (kind, path)
        for kind in KINDS
        for record in records(someone, kind)
        for part in ("spec", "status")
        for path in paths_in(record.get(part), (part,))
    }
    return sorted(fields)


IDENTITY = {"owner", "ownerKind", "apiVersion", "kind", "name"}
"""What a record is about: each record has these."""
FIELDS = [one for one in all_fields() if one[1][-1] not in IDENTITY]


@pytest.mark.parametrize(
    ("kind", "path"),
    cases(FIELDS[::16], FIELDS),
    ids=lambda value: value if isinstance(value, str) else ".".join(value),
)
def test_the_next_deployment_copes_without_a_field(kind: str, path: Path) -> None:
    someone = deployed()
    memory = someone.cluster
    assert isinstance(memory, MemoryCluster)
    for record in records(someone, kind):
        older = removed(record, path)
        part = path[0]
        change: list[dict[str, Any]] = [
            {"op": "replace", "path": f"/{part}", "value": older[part]}
            if part in older
            else {"op": "remove", "path": f"/{part}"}
        ]
        subresource = "status" if part == "status" else ""
        address = (API_VERSION, kind, record["metadata"]["name"], None)
        try:
            memory.patch(*address, change, subresource=subresource)
        except Invalid:
            # The definition requires this field.
            return
    someone.materials.given = kyma("2.10")
    ended = someone.deploy()
    assert ended.get("state") == "succeeded" or ended["msg"]
    left = {one["metadata"]["name"] for one in memory.list("v1", "ConfigMap", "kyma-system").items}
    assert left >= {"settings", "others", "not-ours"}
    if ended.get("state") == "succeeded":
        assert not someone.plan()["plan"]["needed"]
