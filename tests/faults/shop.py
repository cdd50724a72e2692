# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A tiny release with migrations whose effects can be counted, and what a cluster looks like after it.

Each migration adds a line to a ledger and leaves a mark. To add a line twice is as easy as to add it once, so
whatever is done twice shows; that nothing is, is the migration's own doing (it looks before it acts) and that
of whoever sends its writes.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Cluster
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.health.wait import (
    WaitTerms,
    wait_until_established,
)

from tests.support.small_release import NAMESPACE, SmallRelease, config_map, deployment

API = "lifecycle.kyma-project.io/v1"
GROUP = "faults.kyma.local"
MIGRATIONS = ("global-pre", "shop-pre", "shop-post", "global-post")
"""What each adds to the ledger, in the order in which it has to."""

LEDGERS = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": f"ledgers.{GROUP}"},
    "spec": {
        "group": GROUP,
        "names": {"kind": "Ledger", "plural": "ledgers", "singular": "ledger"},
        "scope": "Namespaced",
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "properties": {
                            "spec": {
                                "type": "object",
                                "properties": {"lines": {"type": "array", "items": {"type": "string"}}},
                            }
                        },
                    }
                },
            }
        ],
    },
}
LEDGER = {
    "apiVersion": f"{GROUP}/v1",
    "kind": "Ledger",
    "metadata": {"name": "ledger", "namespace": "default"},
    "spec": {"lines": []},
}

CODE = """
from ansible_collections.kyma.lifecycle.plugins.module_utils.migration import (
    GLOBAL, Context, Migration, Phase, Verdict, needed, not_needed,
)


class Counted:
    '''Adds a line to the ledger, and leaves a mark.'''

    def line(self, ctx: Context) -> str:
        return f"{ctx.variables['round']} {self._step}"

    def mark(self, ctx: Context) -> str:
        return f"round-{ctx.variables['round']}-{self._step}"

    def lines(self, ctx: Context) -> list[str]:
        return ctx.cluster.get("faults.kyma.local/v1", "Ledger", "ledger", "default")["spec"]["lines"]

    def check(self, ctx: Context) -> Verdict:
        marked = ctx.cluster.get("v1", "ConfigMap", self.mark(ctx), "default")
        if self.line(ctx) in self.lines(ctx) and marked and (marked.get("data") or {}).get("done"):
            return not_needed("it stands in the ledger")
        return needed("it does not stand in the ledger")

    def run(self, ctx: Context) -> None:
        cluster = ctx.cluster
        if self.line(ctx) not in self.lines(ctx):
            patch = [{"op": "add", "path": "/spec/lines/-", "value": self.line(ctx)}]
            cluster.patch("faults.kyma.local/v1", "Ledger", "ledger", "default", patch)
        meta = {"name": self.mark(ctx), "namespace": "default"}
        if cluster.get("v1", "ConfigMap", **meta) is None:
            cluster.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": {}})
        cluster.patch("v1", "ConfigMap", meta["name"], meta["namespace"], {"data": {"done": "yes"}})


"""
CLASS = '''
class {name}(Counted, Migration):
    """Adds a line to the ledger, and leaves a mark."""

    _step = "{step}"
    component = {component}
    phase = Phase.{phase}
    keep = "it is for a test"
'''


def migrations() -> str:
    """The code of the migrations."""
    classes = []
    for step in MIGRATIONS:
        component, phase = step.split("-")
        whose = "GLOBAL" if component == "global" else f'"{component}"'
        name = step.title().replace("-", "")
        classes.append(CLASS.format(name=name, step=step, component=whose, phase=phase.upper()))
    return CODE + "\n".join(classes)


@dataclass
class Shop:
    """The release, whose content is another one each round.

    Attributes:
        cluster: a connection that nothing befalls.
        folder: of the release.
        round: how often it was made new.
    """

    cluster: Cluster
    folder: Path
    round: int = 0

    def __post_init__(self) -> None:
        self._release = SmallRelease(self.folder)
        self._release.component("base", prerequisite=True)
        self._release.component("shop")
        self._release.component("mail")

    def seed(self) -> None:
        """Bring the cluster to where the first deployment begins."""
        defined = self.cluster.apply(LEDGERS)
        wait_until_established(WaitTerms(self.cluster, time.monotonic() + 60), [defined])
        self.cluster.apply(LEDGER)

    def renew(self) -> int:
        """Give each component another content, and the migrations something to do; the new round."""
        self.round += 1
        number = str(self.round)
        self._release.write("base", config_map("base", round=number))
        self._release.write("shop", config_map("shop", round=number), deployment("shop"))
        self._release.write("mail", config_map("mail", round=number))
        return self.round

    def write(self, name: str, *objects: Mapping[str, Any]) -> None:
        """Give one component other objects in this round."""
        self._release.write(name, *map(dict, objects))

    def assert_whole(self) -> None:
        """Every migration took effect exactly once, in order; the release is whole; and nothing is open."""
        assert self.lines() == [f"{self.round} {step}" for step in MIGRATIONS]
        for step in MIGRATIONS:
            mark = self.cluster.get("v1", "ConfigMap", f"round-{self.round}-{step}", "default")
            assert mark, f"no mark of {step}"
            assert mark["data"] == {"done": "yes"}
        for name in ("base", "shop", "mail"):
            config_map = self.cluster.get("v1", "ConfigMap", name, NAMESPACE)
            assert config_map, f"no ConfigMap {name}"
            assert config_map["data"] == {"round": str(self.round)}
        shop = self.cluster.get("apps/v1", "Deployment", "shop", NAMESPACE)
        assert shop
        assert shop["status"].get("readyReplicas") == 1
        installation = self.cluster.get(API, "KymaInstallation", "kyma")
        assert installation
        status = installation["status"]
        assert (status["version"], status["target"]) == ("1.0", "1.0")
        runs = self.runs()
        assert [run["status"]["state"] for run in runs if run["status"]["state"] == "running"] == []
        assert runs[0]["status"]["state"] == "succeeded"
        assert runs[0]["metadata"]["name"] == status["lastRun"]

    def assert_recorded(self) -> None:
        """The newest run tells of every migration what came of it."""
        migrations = self.runs()[0]["status"].get("migrations") or {}
        states = {name.partition("/")[2]: one["state"] for name, one in migrations.items()}
        assert states == dict.fromkeys(MIGRATIONS, "done")

    def lines(self) -> list[str]:
        """What stands in the ledger of this round."""
        ledger = self.cluster.get(f"{GROUP}/v1", "Ledger", "ledger", "default")
        assert ledger
        return [line for line in ledger["spec"]["lines"] if line.split()[0] == str(self.round)]

    def runs(self) -> Sequence[Mapping[str, Any]]:
        """The records of all runs, newest first."""
        runs = self.cluster.list(API, "KymaRun").items
        return sorted(runs, key=lambda run: str(run["metadata"]["name"]), reverse=True)


def given(round: int) -> str:
    """What tells the migrations which round it is."""
    return json.dumps({"kyma_migration_variables": {"round": round}})
