# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Random releases, one after the other, and random ways to deploy each of them, well or not."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object, ref_of
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.model import (
    FOUNDATION,
    ComponentEntry,
    Release,
)
from hypothesis import strategies as st

from tests.support.driver import config_map, crd, custom, deployment, job, release, secret

HOMES = {"a": "kyma-system", "b": "kyma-system", "c": "kyma-system", "d": "elsewhere", "e": "elsewhere"}
"""The components that there may be, each with its namespace."""
VARIANTS = 3
SICK = deployment("sick", "broken.invalid/sick", progressDeadlineSeconds=2)
"""It can't become healthy."""
CLUSTER_SCOPED = ("Namespace", "CustomResourceDefinition", "ClusterRole", "ValidatingWebhookConfiguration")


@dataclass(frozen=True)
class Layout:
    """The content of a release.

    Attributes:
        entries: the component list.
        places: the component of each thing, and its variant. Those of components that are not in the list are
            not part of the release.
        profile: of the release.
    """

    entries: tuple[ComponentEntry, ...]
    places: Mapping[str, tuple[str, int]]
    profile: str = ""

    def objects(self, component: str, *, broken: bool = False) -> list[Object]:
        """The manifests of a component, as in the release."""
        placed = sorted(
            (thing, variant) for thing, (name, variant) in self.places.items() if name == component
        )
        manifests = [obj for thing, variant in placed for obj in THINGS[thing](variant)]
        return [*manifests, *([SICK] if broken else [])]

    def desired(self, broken: str = "") -> dict[str, dict[str, Object]]:
        """The expected objects of each component in the cluster, by diff header; the foundation first."""
        homes = {entry.namespace: _namespace(entry.namespace, 0) for entry in self.entries}
        objects: dict[str, dict[str, Object]] = {FOUNDATION: {}}
        for entry in self.entries:
            objects[entry.name] = {}
            for manifest in self.objects(entry.name, broken=entry.name == broken):
                obj = _in_full(manifest, entry.namespace)
                name = obj["metadata"]["name"]
                if obj["kind"] == "Namespace" and name in homes:
                    homes[name] = obj
                else:
                    objects[entry.name][str(ref_of(obj))] = obj
        objects[FOUNDATION] = {str(ref_of(obj)): obj for obj in (*homes.values(), crd("Widget"))}
        return objects

    def release(self, version: str, broken: str = "") -> Release:
        """The release itself; ``broken`` is a component that can't become healthy."""
        return release(
            version,
            {one.name: (one, self.objects(one.name, broken=one.name == broken)) for one in self.entries},
            crds=[crd("Widget")],
            profile=self.profile,
        )


@dataclass(frozen=True)
class Attempt:
    """One deployment.

    Attributes:
        layout: of the release.
        prune: whether components that the release lacks are deleted as a whole.
        alone: the components that are deployed alone; empty for all.
        fault: what goes wrong: nothing if it is empty; ``sick`` (a component doesn't become healthy),
            ``refused`` (a write), ``lost`` (a write doesn't arrive) or ``unanswered`` (its answer doesn't).
        where: at which write, counted from 0, or in which component of the list, modulo their number.
    """

    layout: Layout
    prune: bool
    alone: tuple[str, ...] = ()
    fault: str = ""
    where: int = 0


@dataclass(frozen=True)
class Step:
    """A new version, with attempts before it is deployed as a whole without a fault.

    Attributes:
        by_hand: objects that a user deletes before, each a number modulo their count.
        attempts: deployments; the last one is of the whole release and without a fault.
    """

    by_hand: tuple[int, ...]
    attempts: tuple[Attempt, ...]


def _in_full(manifest: Object, namespace: str) -> Object:
    """A manifest as expected in the cluster."""
    meta = manifest["metadata"]
    obj = (
        manifest
        if manifest["kind"] in CLUSTER_SCOPED
        else {**manifest, "metadata": {"namespace": namespace, **meta}}
    )
    data = {key: b64encode(value.encode()).decode() for key, value in obj.get("stringData", {}).items()}
    return {**{k: v for k, v in obj.items() if k != "stringData"}, **({"data": data} if data else {})}


def _in_default(obj: Object) -> Object:
    return {**obj, "metadata": {**obj["metadata"], "namespace": "default"}}


def _namespace(name: str, variant: int) -> Object:
    labels = {"labels": {"variant": str(variant)}} if variant else {}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, **labels}}


def _team(variant: int) -> list[Object]:
    inside = {**config_map("inside", v=str(variant)), "metadata": {"name": "inside", "namespace": "team"}}
    return [_namespace("team", variant), inside]


def _reader(variant: int) -> list[Object]:
    rules = [{"apiGroups": [""], "resources": [f"things-{variant}"], "verbs": ["get"]}]
    role = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "rules": rules}
    return [{**role, "metadata": {"name": "reader"}}]


def _guard(variant: int) -> list[Object]:
    labels = {"variant": str(variant)}
    kind = {"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration"}
    return [{**kind, "metadata": {"name": "guard", "labels": labels}, "webhooks": []}]


def _claim(_variant: int) -> list[Object]:
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    claim = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "claim"}, "spec": spec}
    return [_in_default(claim)]


def _gadgets(variant: int) -> list[Object]:
    return [crd("Gadget"), *([custom("Gadget", "gadget", v=variant)] if variant else [])]


THINGS: Mapping[str, Any] = {
    "settings": lambda v: [config_map("settings", v=str(v), **({"more": "x"} if v else {}))],
    "common": lambda v: [_in_default(config_map("common", v=str(v)))],
    "token": lambda v: [secret("token", v=str(v))],
    "web": lambda v: [deployment("web", f"web:{v}")],
    "back": lambda v: [_in_default(deployment("back", f"back:{v}"))],
    "setup": lambda v: [_in_default(job("setup", f"setup:{v}"))],
    "widget": lambda v: [custom("Widget", "widget", v=v)],
    "home": lambda v: [_namespace("kyma-system", v)],
    "team": _team,
    "reader": _reader,
    "guard": _guard,
    "claim": _claim,
    "gadgets": _gadgets,
}
"""What a release may have, each at most once: the manifests of a variant.

Where manifests name no namespace, the component's is theirs. Some are cluster-scoped, some are never pruned
(Namespaces, definitions, claims), some can't be changed (a Job).
"""


@st.composite
def component_lists(draw: st.DrawFn) -> tuple[ComponentEntry, ...]:
    names = sorted(draw(st.sets(st.sampled_from(sorted(HOMES)), min_size=3)))
    prerequisites = draw(st.integers(0, 2))
    entries = []
    for position, name in enumerate(names):
        before = names[:position]
        least = min(draw(st.sampled_from([0, 1, 1])), position)
        needs = draw(
            st.lists(st.sampled_from(before or [""]), unique=True, min_size=least, max_size=2 * least)
        )
        first = position < prerequisites
        entries.append(ComponentEntry(name, HOMES[name], prerequisite=first, needs=tuple(needs)))
    # The order in the list counts for prerequisites only.
    return (*entries[:prerequisites], *draw(st.permutations(entries[prerequisites:])))


places = st.tuples(st.sampled_from(sorted(HOMES)), st.integers(0, VARIANTS - 1))
profiles = st.sampled_from(["", "", "production"])
nowhere = st.just(("", 0))
first_layouts = st.builds(
    Layout,
    component_lists(),
    st.fixed_dictionaries(dict.fromkeys(sorted(THINGS), places | nowhere)),
    profiles,
)


@st.composite
def next_layouts(draw: st.DrawFn, layout: Layout) -> Layout:
    """A layout with some things in another place, in another variant, or gone, and maybe other components."""
    changes = draw(st.dictionaries(st.sampled_from(sorted(THINGS)), places | nowhere, max_size=4))
    made = replace(layout, places={**layout.places, **changes})
    if draw(st.booleans()):
        made = replace(made, entries=draw(component_lists()))
    return replace(made, profile=draw(profiles))


@st.composite
def _trials(draw: st.DrawFn, layout: Layout, prune: bool) -> Attempt:
    """The attempts before a release is deployed; the content of the release may change until then."""
    tried = draw(next_layouts(layout))
    names = [entry.name for entry in tried.entries]
    alone = draw(st.just(()) | st.lists(st.sampled_from(names), unique=True, min_size=1).map(tuple))
    faults = ["sick", "refused", "lost", "unanswered", *([""] if alone else [])]
    return Attempt(tried, prune, alone, draw(st.sampled_from(faults)), draw(st.integers(0, 19)))


@st.composite
def lives(draw: st.DrawFn) -> list[Step]:
    """The life of a cluster: some versions, one after the other."""
    steps: list[Step] = []
    layout = draw(first_layouts)
    for number in range(draw(st.integers(1, 3))):
        if number:
            layout = draw(next_layouts(layout))
        prune = draw(st.booleans())
        trials = draw(st.lists(_trials(layout, prune), max_size=2))
        by_hand = draw(st.lists(st.integers(0, 30), max_size=2)) if number else []
        steps.append(Step(tuple(by_hand), (*trials, Attempt(layout, prune))))
    return steps
