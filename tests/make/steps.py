# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every step by name, and those of `make test`, in their order."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from . import checks, cluster, partition, sanity, setup, shows, suites
from .outcome import Outcome

COPY = frozenset({"copy"})
"""What linters and ansible-test write to: the copy of what Git tracks."""
CLUSTER = frozenset({"cluster"})
"""The cluster of `make cluster`."""
SEVERAL_CLUSTERS = frozenset({"several clusters"})
"""kind fails beside two control planes, for want of inotify instances (128 on most machines)."""


@dataclass(frozen=True)
class Step:
    """One step that a person can name.

    Attributes:
        name: what a person types.
        what: its action, for people.
        do: its function.
        needs: steps that must have ended well before it.
        after: steps that must have ended before it, well or not.
        lanes: how many lanes of a run it takes; see tests/make/schedule.py.
        uses: resources that no other step may use at the same time.
        takes_kubeconfig: whether its function takes KUBECONFIG as an argument of make.
    """

    name: str
    what: str
    do: Callable[..., Outcome]
    needs: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    lanes: int = 1
    uses: frozenset[str] = frozenset()
    takes_kubeconfig: bool = False


_ALL = (
    Step("setup", "environments and collections in .build", setup.for_tests),
    Step("style", "ruff", checks.style, ("setup",)),
    Step("types", "mypy --strict", checks.types, ("setup",)),
    Step("yaml", "yamllint", checks.yaml, ("setup",), uses=COPY),
    Step("changelog", "antsibull-changelog lint", checks.changelog, ("setup",), uses=COPY),
    Step("docs", "antsibull-docs lint-collection-docs", checks.docs, ("setup",), uses=COPY),
    Step("sanity", "ansible-test sanity", sanity.sanity, ("setup",), uses=COPY),
    Step("sanity-all", "all of it on each ansible-core", sanity.sanity_everywhere, ("setup",), uses=COPY),
    Step("lint", "ansible-lint, production profile", checks.lint, ("setup",), uses=COPY),
    Step("galaxy", "galaxy-importer", checks.galaxy, ("setup",), uses=COPY),
    Step("suites", "each test is in one suite", partition.check, ("setup",)),
    Step("build", "the programs of a Kubernetes, from pinned sources", cluster.build, ("setup",)),
    Step(
        "unit",
        "pytest without a cluster; some need the programs",
        suites.unit,
        ("setup",),
        ("build",),
        lanes=2,
    ),
    Step(
        "unit-all", "the same on each ansible-core", suites.unit_everywhere, ("setup",), ("build",), lanes=2
    ),
    Step(
        "cluster",
        "start or reuse a Kubernetes",
        cluster.up,
        ("build",),
        uses=CLUSTER,
        takes_kubeconfig=True,
    ),
    Step("integration", "pytest with clusters", suites.integration, ("build",), lanes=2),
    Step(
        "some-faults",
        "each fault that a run survives, by one test",
        suites.some_faults,
        ("build",),
        uses=SEVERAL_CLUSTERS,
    ),
    Step("faults", "all of them", suites.faults, ("build",), uses=SEVERAL_CLUSTERS),
    Step("molecule-default", "molecule on the cluster", suites.molecule_default, ("build",), uses=CLUSTER),
    Step("molecule-kind", "molecule with kind", suites.molecule_kind, ("build",), uses=SEVERAL_CLUSTERS),
    Step("molecule", "both molecule scenarios", suites.molecule_all),
    Step(
        "containers",
        "pytest with real containers, on kind",
        suites.containers,
        ("build",),
        uses=SEVERAL_CLUSTERS,
    ),
    Step(
        "kind",
        "molecule and pytest with real containers, on one kind cluster",
        suites.on_kind,
        ("build",),
        uses=SEVERAL_CLUSTERS,
    ),
    Step("cluster-down", "end the cluster", cluster.down, ("setup",)),
    Step("demo", "deploy the example release", shows.demo, takes_kubeconfig=True),
    Step("pictures", "make the pictures of the documentation again", shows.pictures),
    Step("bench", "measure", shows.bench, ("build",), lanes=2),
    Step("fix", "mend what ruff can, and generate documentation anew", checks.fix),
)

STEPS: Mapping[str, Step] = {step.name: step for step in _ALL}

STATIC = ("types", "lint", "galaxy", "docs", "suites", "style", "yaml", "changelog")

FULL = "test-all"
"""The group in which each step tries all that it can."""

GROUPS: Mapping[str, Sequence[str]] = {
    # A step that takes long comes first, so that the lanes end together.
    "test": (
        *("setup", "build", "some-faults", "sanity", "kind", "molecule-default"),
        *STATIC,
        *("integration", "unit"),
    ),
    FULL: (
        *("setup", "build", "faults", "sanity-all", "kind", "molecule-default"),
        *STATIC,
        *("integration", "unit-all", "bench"),
    ),
}
