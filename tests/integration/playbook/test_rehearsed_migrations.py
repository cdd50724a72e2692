# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What ``--check --diff`` shows of migrations is, field by field, what the real run then changes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import pytest
import yaml
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import ref_of
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.live_cluster import LiveCluster

from tests.support.audit import WRITING_VERBS, writes
from tests.support.own_cluster import OwnCluster
from tests.support.playbook_run import Outcome, Playbook
from tests.support.small_release import Object, SmallRelease, config_map, deployment

from .snapshot import differing_fields

pytestmark = pytest.mark.control_plane

KINDS = (
    ("v1", "Namespace"),
    ("v1", "ConfigMap"),
    ("v1", "Secret"),
    ("v1", "Service"),
    ("v1", "ServiceAccount"),
    ("v1", "PersistentVolumeClaim"),
    ("apps/v1", "Deployment"),
    ("apps/v1", "StatefulSet"),
    ("storage.k8s.io/v1", "StorageClass"),
    ("rbac.authorization.k8s.io/v1", "ClusterRole"),
    ("apiextensions.k8s.io/v1", "CustomResourceDefinition"),
    ("example.com/v1", "Widget"),
)
OF_OURS = "lifecycle"
"""Part of the names of our own records and definitions, which no migration writes."""

CODE = '''
from ansible_collections.kyma.lifecycle.plugins.module_utils.migration import (
    GLOBAL, ClusterError, Context, Migration, Phase, Verdict, needed, not_needed,
)

PLACE = "default"


def read(ctx, name, kind="ConfigMap", api="v1"):
    return ctx.cluster.get(api, kind, name, PLACE)


def made(name, **data):
    meta = {"name": name, "namespace": PLACE}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": data}


class _Marked(Migration):
    """Is needed until the ConfigMap of its name is there."""

    component = "first"
    phase = Phase.PRE
    keep = "it is for a test"
    _mark = ""

    def check(self, ctx: Context) -> Verdict:
        return not_needed("it has run") if read(ctx, self._mark) else needed("it has not run")


class Creates(_Marked):
    """Makes objects, one with a name that the server completes with defaults."""

    _mark = "created"

    def run(self, ctx: Context) -> None:
        pod = {"metadata": {"labels": {"app": "made"}}, "spec": {"containers": [{"name": "m", "image": "i"}]}}
        spec = {"selector": {"matchLabels": {"app": "made"}}, "template": pod}
        if read(ctx, "made", "Deployment", "apps/v1") is None:
            ctx.cluster.create(
                {"apiVersion": "apps/v1", "kind": "Deployment",
                 "metadata": {"name": "made", "namespace": PLACE}, "spec": spec}
            )
        ctx.cluster.apply(
            {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "made", "namespace": PLACE},
             "stringData": {"password": "hunter2-is-long"}}
        )
        ctx.cluster.create(made("created", a="b"))


class Patches(_Marked):
    """Changes fields by both kinds of patches, and takes one away."""

    component = "second"
    _mark = "patched"

    def run(self, ctx: Context) -> None:
        old = read(ctx, "old", "Deployment", "apps/v1")
        meta = {"uid": old["metadata"]["uid"], "resourceVersion": old["metadata"]["resourceVersion"]}
        container = {**old["spec"]["template"]["spec"]["containers"][0], "image": "example.com/new"}
        ctx.cluster.patch("apps/v1", "Deployment", "old", PLACE, {
            "metadata": {**meta, "annotations": {"seen": "yes", "gone": None}},
            "spec": {"replicas": 2, "template": {"spec": {"containers": [container]}}},
        })
        ctx.cluster.patch("v1", "ConfigMap", "edited", PLACE, [
            {"op": "replace", "path": "/data/level", "value": "info"},
            {"op": "remove", "path": "/data/gone"},
            {"op": "add", "path": "/data/new", "value": "1"},
        ])
        ctx.cluster.patch("storage.k8s.io/v1", "StorageClass", "slow", None, {"allowVolumeExpansion": True})
        ctx.cluster.create(made("patched"))


class Applies(_Marked):
    """Applies over what a person has made, with and without force."""

    _mark = "applied"

    def run(self, ctx: Context) -> None:
        ctx.cluster.apply(made("settings", level="debug", ours="1"), force=True)
        ctx.cluster.apply(made("applied", a="b"))


class Deletes(_Marked):
    """Makes way: leaves the pods of one thing, and takes another away."""

    component = "second"
    _mark = "deleted"

    def run(self, ctx: Context) -> None:
        ctx.cluster.delete("apps/v1", "StatefulSet", "old", PLACE, propagation="Orphan")
        ctx.cluster.delete("v1", "ConfigMap", "rubbish", PLACE)
        for found in ctx.cluster.list("v1", "ConfigMap", PLACE, label_selector="kind=rubbish").items:
            ctx.cluster.delete("v1", "ConfigMap", found["metadata"]["name"], PLACE)
        ctx.cluster.create(made("deleted"))


class GoesStepByStep(_Marked):
    """Reads in each step what the step before has written."""

    after = ["first/creates", "first/applies"]
    _mark = "last-step"

    def run(self, ctx: Context) -> None:
        ctx.cluster.apply(made("step-1", found=read(ctx, "created")["data"]["a"]))
        ctx.cluster.patch("v1", "ConfigMap", "step-1", PLACE, {"data": {"step": "2"}})
        seen = [one["metadata"]["name"] for one in ctx.cluster.list("v1", "ConfigMap", PLACE).items]
        step = read(ctx, "step-1")["data"]
        ctx.cluster.create(made("scratch"))
        ctx.cluster.delete("v1", "ConfigMap", "scratch", PLACE)
        level = read(ctx, "settings")["data"]["level"]
        ctx.cluster.apply(made("last-step", step=step["step"], level=level, seen=" ".join(
            one for one in seen if one.startswith(("created", "applied", "step", "scratch")))))


class AsksAPod(_Marked):
    """Runs a command, which nobody can foretell, and leaves that out where it is only rehearsed."""

    _mark = "asked"

    def run(self, ctx: Context) -> None:
        answer = "nothing"
        if not ctx.rehearsal:
            try:
                ctx.cluster.exec("nowhere", PLACE, ["true"])
            except ClusterError:
                ctx.log.info("there is no such pod here")
        ctx.cluster.create(made("asked", answer=answer))


class GoesFirst(_Marked):
    """Runs before everything, also before the namespaces of the release are there."""

    component = GLOBAL
    _mark = "first"

    def run(self, ctx: Context) -> None:
        if ctx.cluster.get("v1", "Namespace", "early") is None:
            ctx.cluster.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "early"}})
        ctx.cluster.apply({"apiVersion": "v1", "kind": "ConfigMap",
                           "metadata": {"name": "inside", "namespace": "early"}, "data": {"a": "b"}})
        ctx.cluster.create(made("first"))


class GoesLast(_Marked):
    """Changes what a component of this deployment brings, and makes an object of a kind that it brings."""

    component = "first"
    phase = Phase.POST
    _mark = "last"

    def run(self, ctx: Context) -> None:
        ctx.cluster.patch("v1", "ConfigMap", "content", "small", {"metadata": {"labels": {"seen": "yes"}}})
        ctx.cluster.apply({"apiVersion": "example.com/v1", "kind": "Widget",
                           "metadata": {"name": "made", "namespace": PLACE}, "spec": {"size": 3}})
        widget = ctx.cluster.get("example.com/v1", "Widget", "made", PLACE)
        ctx.cluster.create(made("last", size=str(widget["spec"]["size"])))
'''


def _crd() -> Object:
    size = {
        "type": "object",
        "properties": {"size": {"type": "integer"}, "color": {"type": "string", "default": "red"}},
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"kind": "Widget", "plural": "widgets", "singular": "widget", "listKind": "WidgetList"},
            "versions": [
                {
                    "name": "v1",
                    "served": True,
                    "storage": True,
                    "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": size}}},
                }
            ],
        },
    }


def _seeds() -> list[Object]:
    """What the cluster has before: all in ``default``."""
    old = deployment("old", image="example.com/fine", replicas=1)
    old["metadata"]["annotations"] = {"gone": "soon"}
    pod = deployment("set")["spec"]
    claim = {
        "metadata": {"name": "data"},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
    }
    stateful = {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"name": "old"},
        "spec": {**pod, "serviceName": "old", "volumeClaimTemplates": [claim]},
    }
    labelled = config_map("labelled", a="b")
    labelled["metadata"]["labels"] = {"kind": "rubbish"}
    slow = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": "slow"},
        "provisioner": "example.com/slow",
    }
    config_maps = [
        config_map("edited", level="debug", gone="1", stays="1"),
        config_map("settings", level="info", theirs="1"),
        config_map("rubbish", a="b"),
        labelled,
    ]
    return [old, stateful, slow, *config_maps]


@dataclass
class Rehearsed:
    """A check and the run after it, with what the cluster had before, between and after."""

    check: Outcome
    run: Outcome
    before: dict[str, Object]
    between: dict[str, Object]
    after: dict[str, Object]

    @property
    def shown(self) -> dict[str, tuple[Object | None, Object | None]]:
        """What the diff shows of each object: as it is before the first change of it, and after the last."""
        diffs: dict[str, tuple[Object | None, Object | None]] = {}
        for one in self.check.diff:
            name = one["before_header"].removesuffix(" (absent)")
            old = yaml.safe_load(one["before"]) if one["before"] else None
            new = yaml.safe_load(one["after"]) if one["after"] else None
            diffs[name] = (diffs[name][0] if name in diffs else old, new)
        return {name: pair for name, pair in diffs.items() if pair != (None, None)}


def _everything(cluster: LiveCluster) -> dict[str, Object]:
    listed = [obj for api_version, kind in KINDS for obj in cluster.list(api_version, kind).items]
    return {str(ref_of(obj)): obj for obj in listed if OF_OURS not in obj["metadata"]["name"]}


@pytest.fixture(scope="module")
def rehearsed(playbook: Playbook, small: SmallRelease, own_cluster: OwnCluster) -> Rehearsed:
    """Both, on a cluster with a past."""
    by_hand = own_cluster.api.with_field_manager("kubectl-create")
    for seed in _seeds():
        place = {} if seed["kind"] == "StorageClass" else {"namespace": "default"}
        by_hand.create({**seed, "metadata": {**seed["metadata"], **place}})
    small.component("first", config_map("content", a="b"), _crd())
    small.component("second", config_map("more", a="b"))
    playbook.migration("all", CODE)
    _wait_for_pods(own_cluster.api)
    before = _everything(own_cluster.api)
    check = playbook.deploy(small.folder, "--check", "--diff").succeeded()
    between = _everything(own_cluster.api)
    run = playbook.deploy(small.folder).succeeded()
    return Rehearsed(check, run, before, between, _everything(own_cluster.api))


def _wait_for_pods(cluster: LiveCluster) -> None:
    """Wait until the controllers have done with what was seeded: they write into it."""
    import time

    end = time.monotonic() + 60
    while time.monotonic() < end:
        live = [cluster.get("apps/v1", kind, "old", "default") for kind in ("Deployment", "StatefulSet")]
        if all(one and one["status"].get("readyReplicas") for one in live):
            return
        time.sleep(0.2)
    pytest.fail("what was seeded is not ready")


def test_every_migration_was_rehearsed_and_then_run(rehearsed: Rehearsed) -> None:
    planned = {one["id"]: one["verdict"] for one in rehearsed.check.plan["migrations"] if one["writes"]}
    ran = {name: one["state"] for name, one in rehearsed.run.migrations.items() if one["state"] == "done"}
    assert len(planned) == 8
    assert set(planned) == set(ran)


def test_the_check_changes_nothing_and_the_audit_log_has_dry_runs_only(rehearsed: Rehearsed) -> None:
    assert writes(rehearsed.check.requests) == []
    tried = [one for one in rehearsed.check.requests if one.verb in WRITING_VERBS]
    assert len(tried) > 10
    assert all("dryRun=All" in one.uri for one in tried if "accessreviews" not in one.uri)
    assert set(rehearsed.before) == set(rehearsed.between)
    for name, obj in rehearsed.before.items():
        assert differing_fields(obj, rehearsed.between[name]) == set(), name


def test_the_diff_shows_the_live_objects_as_before(rehearsed: Rehearsed) -> None:
    for name, (old, _new) in rehearsed.shown.items():
        live = rehearsed.before.get(name)
        assert (old is None) == (live is None), name
        if old and live and live["kind"] != "Secret":
            assert differing_fields(live, old) == set(), name


def test_the_objects_that_are_shown_are_those_that_change(rehearsed: Rehearsed) -> None:
    names = {*rehearsed.before, *rehearsed.after}
    changed = {name for name in names if _changed(rehearsed.before.get(name), rehearsed.after.get(name))}
    # Every namespace gets its own of these from the controllers.
    brought = {
        name for name in changed if re.search(r"/kube-root-ca\.crt$|^ServiceAccount .*/default$", name)
    }
    # Our own role for viewers is aggregated into these.
    brought |= {f"ClusterRole {name}" for name in ("admin", "edit", "view")}
    # The journal of the run keeps what was in a Secret in one of its own.
    brought |= {name for name in changed if re.match(r"Secret default/\d{8}-\d{6}-", name)}
    assert set(rehearsed.shown) == changed - brought


def test_they_become_field_by_field_what_is_shown(rehearsed: Rehearsed) -> None:
    for name, (old, new) in rehearsed.shown.items():
        live = rehearsed.after.get(name)
        assert (new is None) == (live is None), name
        if new is None or live is None or live["kind"] in ("Secret", "CustomResourceDefinition"):
            continue
        differing = differing_fields(new, live)
        if old is None:
            # A component's new objects are shown as the release wants them, and a new namespace gets a label.
            differing -= {".metadata.labels", ".metadata.labels.kubernetes.io/metadata.name", ".spec"}
        assert differing == set(), name


def test_no_value_of_a_secret_is_shown(rehearsed: Rehearsed) -> None:
    assert "hunter2" not in rehearsed.check.text + str(rehearsed.check.results)
    assert "aHVudGVyM" not in rehearsed.check.text + str(rehearsed.check.results)


def _changed(old: Any, new: Any) -> bool:
    if old is None or new is None:
        return old is not new
    return bool(differing_fields(old, new))
