# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Migrations that write in every way, and the objects that they need."""

from __future__ import annotations

from typing import Any

from ansible_collections.kyma.lifecycle.plugins.module_utils.migration import (
    GLOBAL,
    ClusterError,
    Context,
    Migration,
    Phase,
    Verdict,
    needed,
    not_needed,
)

from tests.support.small_release import Object, config_map, deployment

NAMESPACE = "default"


def read(ctx: Context, name: str, kind: str = "ConfigMap", api: str = "v1") -> Object:
    """An object that must exist."""
    obj = ctx.cluster.get(api, kind, name, NAMESPACE)
    assert obj is not None
    return obj


def mark(name: str, **data: str) -> Object:
    """A ConfigMap in the namespace of these migrations."""
    return {**config_map(name, **data), "metadata": {"name": name, "namespace": NAMESPACE}}


class Marked(Migration):
    """Is needed until the ConfigMap of its name exists."""

    component = "first"
    phase = Phase.PRE
    keep = "it is for a test"
    mark = ""

    def check(self, ctx: Context) -> Verdict:
        obj = ctx.cluster.get("v1", "ConfigMap", self.mark, NAMESPACE)
        return not_needed("it has run") if obj else needed("it has not run")


class Creates(Marked):
    """Creates objects that the server completes with defaults."""

    mark = "created"

    def run(self, ctx: Context) -> None:
        pod = {"metadata": {"labels": {"app": "made"}}, "spec": {"containers": [{"name": "m", "image": "i"}]}}
        spec = {"selector": {"matchLabels": {"app": "made"}}, "template": pod}
        if ctx.cluster.get("apps/v1", "Deployment", "made", NAMESPACE) is None:
            ctx.cluster.create({**deployment("made"), "metadata": mark("made")["metadata"], "spec": spec})
        ctx.cluster.apply(
            {
                "apiVersion": "v1",
                "kind": "Secret",
                "metadata": {"name": "made", "namespace": NAMESPACE},
                "stringData": {"password": "hunter2-is-long"},
            }
        )
        ctx.cluster.create(mark("created", a="b"))


class Patches(Marked):
    """Changes fields by both kinds of patches, and removes one."""

    component = "second"
    mark = "patched"

    def run(self, ctx: Context) -> None:
        old = read(ctx, "old", "Deployment", "apps/v1")
        meta = {"uid": old["metadata"]["uid"], "resourceVersion": old["metadata"]["resourceVersion"]}
        container = {**old["spec"]["template"]["spec"]["containers"][0], "image": "example.com/new"}
        patch: dict[str, Any] = {
            "metadata": {**meta, "annotations": {"seen": "yes", "gone": None}},
            "spec": {"replicas": 2, "template": {"spec": {"containers": [container]}}},
        }
        ctx.cluster.patch("apps/v1", "Deployment", "old", NAMESPACE, patch)
        steps = [
            {"op": "replace", "path": "/data/level", "value": "info"},
            {"op": "remove", "path": "/data/gone"},
            {"op": "add", "path": "/data/new", "value": "1"},
        ]
        ctx.cluster.patch("v1", "ConfigMap", "edited", NAMESPACE, steps)
        ctx.cluster.patch("storage.k8s.io/v1", "StorageClass", "slow", None, {"allowVolumeExpansion": True})
        ctx.cluster.create(mark("patched"))


class Applies(Marked):
    """Applies over the fields of a person, with and without force."""

    mark = "applied"

    def run(self, ctx: Context) -> None:
        ctx.cluster.apply(mark("settings", level="debug", ours="1"), force=True)
        ctx.cluster.apply(mark("applied", a="b"))


class Deletes(Marked):
    """Deletes an object without its pods, and others by name and by label."""

    component = "second"
    mark = "deleted"

    def run(self, ctx: Context) -> None:
        ctx.cluster.delete("apps/v1", "StatefulSet", "old", NAMESPACE, propagation="Orphan")
        ctx.cluster.delete("v1", "ConfigMap", "rubbish", NAMESPACE)
        for obj in ctx.cluster.list("v1", "ConfigMap", NAMESPACE, label_selector="kind=rubbish").items:
            ctx.cluster.delete("v1", "ConfigMap", obj["metadata"]["name"], NAMESPACE)
        ctx.cluster.create(mark("deleted"))


class GoesStepByStep(Marked):
    """Reads in each step what the step before has written."""

    after = ("first/creates", "first/applies")
    mark = "last-step"

    def run(self, ctx: Context) -> None:
        ctx.cluster.apply(mark("step-1", data=read(ctx, "created")["data"]["a"]))
        ctx.cluster.patch("v1", "ConfigMap", "step-1", NAMESPACE, {"data": {"step": "2"}})
        names = [one["metadata"]["name"] for one in ctx.cluster.list("v1", "ConfigMap", NAMESPACE).items]
        step = read(ctx, "step-1")["data"]
        ctx.cluster.create(mark("scratch"))
        ctx.cluster.delete("v1", "ConfigMap", "scratch", NAMESPACE)
        own = [name for name in names if name.startswith(("created", "applied", "step", "scratch"))]
        level = read(ctx, "settings")["data"]["level"]
        ctx.cluster.apply(mark("last-step", step=step["step"], level=level, names=" ".join(own)))


class AsksAPod(Marked):
    """Runs a command, which a rehearsal leaves out."""

    mark = "asked"

    def run(self, ctx: Context) -> None:
        if not ctx.rehearsal:
            try:
                ctx.cluster.exec("nowhere", NAMESPACE, ["true"])
            except ClusterError:
                ctx.log.info("there is no such pod here")
        ctx.cluster.create(mark("asked", answer="nothing"))


class GoesFirst(Marked):
    """Runs before everything, also before the namespaces of the release exist."""

    component = GLOBAL
    mark = "first"

    def run(self, ctx: Context) -> None:
        if ctx.cluster.get("v1", "Namespace", "early") is None:
            ctx.cluster.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "early"}})
        inside = {"name": "inside", "namespace": "early"}
        ctx.cluster.apply({**config_map("inside", a="b"), "metadata": inside})
        ctx.cluster.create(mark("first"))


class GoesLast(Marked):
    """Changes an object of its component, and creates one of a kind that it brings."""

    phase = Phase.POST
    mark = "last"

    def run(self, ctx: Context) -> None:
        labels = {"metadata": {"labels": {"seen": "yes"}}}
        ctx.cluster.patch("v1", "ConfigMap", "content", "kyma-system", labels)
        made = {"name": "made", "namespace": NAMESPACE}
        ctx.cluster.apply(
            {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": made, "spec": {"size": 3}}
        )
        widget = read(ctx, "made", "Widget", "example.com/v1")
        ctx.cluster.create(mark("last", size=str(widget["spec"]["size"])))


class _Shares(Marked):
    """Writes an object that a migration of another component writes, too: the first does it."""

    mark = "shared"

    def run(self, ctx: Context) -> None:
        ctx.cluster.apply(mark("shared", a="b"))


class SharesFirst(_Shares):
    """Belongs to one component."""

    component = "first"


class SharesSecond(_Shares):
    """Belongs to another component of the same wave."""

    component = "second"


MIGRATIONS = (
    Creates,
    Patches,
    Applies,
    Deletes,
    GoesStepByStep,
    AsksAPod,
    GoesFirst,
    GoesLast,
    SharesFirst,
    SharesSecond,
)


def seeds() -> list[Object]:
    """The objects that the cluster has before."""
    old = deployment("old", image="example.com/fine", replicas=1)
    old["metadata"]["annotations"] = {"gone": "soon"}
    claim = {
        "metadata": {"name": "data"},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
    }
    stateful = {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"name": "old"},
        "spec": {**deployment("set")["spec"], "serviceName": "old", "volumeClaimTemplates": [claim]},
    }
    labelled = config_map("labelled", a="b")
    labelled["metadata"]["labels"] = {"kind": "rubbish"}
    placed = [
        old,
        stateful,
        config_map("edited", level="debug", gone="1", stays="1"),
        config_map("settings", level="info", theirs="1"),
        config_map("rubbish", a="b"),
        labelled,
    ]
    slow = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": "slow"},
        "provisioner": "example.com/slow",
    }
    return [slow, *({**one, "metadata": {**one["metadata"], "namespace": NAMESPACE}} for one in placed)]
