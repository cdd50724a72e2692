# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every step by name, and those of `make test`, in their order."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from . import (
    checks,
    cluster,
    galaxy,
    lock_writer,
    newest,
    partition,
    release,
    sanity,
    setup,
    shows,
    step_table,
    suites,
    tarball,
)
from .outcome import Outcome
from .site import build

COPY = frozenset({"copy"})
"""What linters and ansible-test write to: the copy of what Git tracks."""
CLUSTER = frozenset({"cluster"})
"""The cluster of `make cluster`."""
SEVERAL_CLUSTERS = frozenset({"several clusters"})
"""kind fails beside two control planes, for want of inotify instances (128 on most machines)."""
WAITING = frozenset({"waiting"})
"""Steps that mostly wait for a cluster take no lane. One of them at a time runs beside steps that compute."""
SETUP, BUILD = ("setup",), ("build",)
"""What steps need, or come after."""


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


def _waiting(name: str, what: str, do: Callable[..., Outcome], uses: frozenset[str] = frozenset()) -> Step:
    """A step that mostly waits for a cluster."""
    return Step(name, what, do, BUILD, lanes=0, uses=WAITING | uses)


_ALL = (
    Step("setup", "environments and collections in .build", setup.everything),
    Step("locks", "write the locks of tests/requirements", lock_writer.write),
    Step("style", "ruff", checks.style, SETUP),
    Step("types", "mypy --strict", checks.types, SETUP),
    Step("yaml", "yamllint", checks.yaml, SETUP, uses=COPY),
    Step("changelog", "antsibull-changelog lint", checks.changelog, SETUP, uses=COPY),
    Step("docs", "antsibull-docs lint-collection-docs", checks.docs, SETUP, uses=COPY),
    Step("sanity", "ansible-test sanity", sanity.sanity, SETUP, uses=COPY),
    Step("sanity-all", "all of it on each ansible-core", sanity.sanity_everywhere, SETUP, uses=COPY),
    Step("lint", "ansible-lint, production profile", checks.lint, SETUP, uses=COPY),
    Step("galaxy", "galaxy-importer", galaxy.galaxy, SETUP, uses=COPY),
    Step("release", "the content of a release's commit", release.release, SETUP, uses=COPY),
    Step("notes", "the notes of a release", release.notes, SETUP, uses=COPY),
    Step("tarball", "the collection as a release has it", tarball.tarball, SETUP, uses=COPY),
    Step("workflows", "actionlint", checks.workflows, SETUP),
    Step("audit", "pip-audit", checks.audit, SETUP),
    Step("site", "the documentation as a site", build.site, SETUP),
    Step("suites", "each test is in one suite", partition.check, SETUP),
    Step("changed", "pytest without a cluster, for the files that have changed", suites.changed, SETUP),
    Step("build", "the programs of a Kubernetes, from pinned sources", cluster.build, SETUP),
    Step("unit", "pytest without a cluster; some need the programs", suites.unit, SETUP, BUILD),
    Step("unit-oldest", "what uses Ansible or a library, on the oldest", suites.unit_on_oldest, SETUP, BUILD),
    Step("unit-all", "the same on each ansible-core", suites.unit_everywhere, SETUP, BUILD, lanes=2),
    Step("newest", "unit tests and sanity on the newest", newest.newest, SETUP, BUILD, lanes=2, uses=COPY),
    Step("cluster", "start or reuse a Kubernetes", cluster.up, BUILD, uses=CLUSTER, takes_kubeconfig=True),
    Step("integration", "pytest with clusters", suites.integration, BUILD, uses=SEVERAL_CLUSTERS),
    Step(
        "kubernetes-oldest",
        "pytest with the oldest Kubernetes and Helm",
        suites.on_oldest_kubernetes,
        BUILD,
        uses=SEVERAL_CLUSTERS,
    ),
    _waiting("some-faults", "each fault that a run survives, by one test", suites.some_faults),
    Step("faults", "all of them", suites.faults, BUILD, uses=WAITING | SEVERAL_CLUSTERS),
    _waiting("molecule-default", "molecule on the cluster", suites.molecule_default, CLUSTER),
    _waiting("molecule-kind", "molecule with kind", suites.molecule_kind, SEVERAL_CLUSTERS),
    Step("molecule", "both molecule scenarios", suites.molecule_all),
    _waiting("containers", "pytest with real containers, on kind", suites.containers, SEVERAL_CLUSTERS),
    _waiting("kind", "molecule and real containers, on one kind cluster", suites.on_kind, SEVERAL_CLUSTERS),
    Step("cluster-down", "end the cluster", cluster.down, SETUP),
    Step("demo", "deploy the example release", shows.demo, takes_kubeconfig=True),
    Step("pictures", "make the pictures of the documentation again", shows.pictures),
    Step("bench", "measure", shows.bench, BUILD, lanes=2, uses=WAITING),
    Step(
        "step-table",
        "write what the last `make test` took to tests/README.md",
        partial(step_table.write_table, step_table.PROOFS),
    ),
    Step("fix", "mend what ruff can, and generate documentation anew", checks.fix),
)

STEPS: Mapping[str, Step] = {step.name: step for step in _ALL}

STATIC = ("types", "lint", "galaxy", "docs", "suites", "style", "yaml", "changelog")

TEST = "test"
CHECK = "check"
FULL = "test-all"
"""The group in which each step tries all that it can."""

GROUPS: Mapping[str, Sequence[str]] = {
    # A step that takes long comes first, so that the lanes end together. What needs no cluster runs beside
    # the first build, which takes minutes.
    TEST: (
        *("setup", "build", "unit", "sanity", "kind", "unit-oldest", "integration", *STATIC, "some-faults"),
    ),
    FULL: (
        *("setup", "build", "sanity-all", "kind", *STATIC, "site", "tarball", "workflows", "audit"),
        *("unit-all", "integration", "kubernetes-oldest", "molecule-default", "faults", "bench"),
    ),
    CHECK: ("setup", "changed", "types", "suites", "style"),
}
