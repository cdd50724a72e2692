# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every step by name, and those of `make test`, in their order."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

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
        proves: what no other step of `make test` proves, for the table in tests/README.md.
    """

    name: str
    what: str
    do: Callable[..., Outcome]
    needs: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    lanes: int = 1
    uses: frozenset[str] = frozenset()
    takes_kubeconfig: bool = False
    proves: str = ""


def _write_step_table() -> Outcome:
    return step_table.write_table({name: STEPS[name].proves for name in GROUPS[TEST]})


_ALL = (
    Step(
        "setup",
        "environments and collections in .build",
        setup.everything,
        proves="The locked requirements can be installed together, and their files have the locked hashes.",
    ),
    Step("locks", "write the locks of tests/requirements", lock_writer.write),
    Step(
        "style",
        "ruff",
        checks.style,
        ("setup",),
        proves="The format of the code, and that it has none of the mistakes that ruff knows.",
    ),
    Step(
        "types",
        "mypy --strict",
        checks.types,
        ("setup",),
        proves="Types agree, also in branches that no test runs.",
    ),
    Step(
        "yaml", "yamllint", checks.yaml, ("setup",), uses=COPY, proves="The format of playbooks and metadata."
    ),
    Step(
        "changelog",
        "antsibull-changelog lint",
        checks.changelog,
        ("setup",),
        uses=COPY,
        proves="The fragments make a changelog.",
    ),
    Step(
        "docs",
        "antsibull-docs lint-collection-docs",
        checks.docs,
        ("setup",),
        uses=COPY,
        proves="Links and markup in the documentation of options are valid.",
    ),
    Step(
        "sanity",
        "ansible-test sanity",
        sanity.sanity,
        ("setup",),
        uses=COPY,
        proves="Modules import without their libraries, their documentation has their options, and all code"
        " compiles on the oldest Python.",
    ),
    Step("sanity-all", "all of it on each ansible-core", sanity.sanity_everywhere, ("setup",), uses=COPY),
    Step(
        "lint",
        "ansible-lint, production profile",
        checks.lint,
        ("setup",),
        uses=COPY,
        proves="Roles, playbooks and examples follow the production profile.",
    ),
    Step(
        "galaxy",
        "galaxy-importer",
        galaxy.galaxy,
        ("setup",),
        uses=COPY,
        proves="Galaxy accepts the tarball of a release, and shows the documentation of all of its modules,"
        " plugins and roles.",
    ),
    Step("release", "the content of a release's commit", release.release, ("setup",), uses=COPY),
    Step("notes", "the notes of a release", release.notes, ("setup",), uses=COPY),
    Step("tarball", "the collection as a release has it", tarball.tarball, ("setup",), uses=COPY),
    Step("workflows", "actionlint", checks.workflows, ("setup",)),
    Step("audit", "pip-audit", checks.audit, ("setup",)),
    Step("site", "the documentation as a site", build.site, ("setup",)),
    Step(
        "suites",
        "each test is in one suite",
        partition.check,
        ("setup",),
        proves="Each test runs, and in one suite.",
    ),
    Step("changed", "pytest without a cluster, for the files that have changed", suites.changed, ("setup",)),
    Step(
        "build",
        "the programs of a Kubernetes, from pinned sources",
        cluster.build,
        ("setup",),
        proves="The programs of a cluster can be built from their pinned sources.",
    ),
    Step(
        "unit",
        "pytest without a cluster; some need the programs",
        suites.unit,
        ("setup",),
        ("build",),
        proves="Decisions on plain values, runs on a cluster in memory, answers of a scripted server, and how"
        " tasks run in Ansible's process.",
    ),
    Step(
        "unit-oldest",
        "what touches Ansible or a library, on the lowest versions",
        suites.unit_on_oldest,
        ("setup",),
        ("build",),
        proves="The same on the oldest Python, ansible-core and libraries, for what imports one of them.",
    ),
    Step(
        "unit-all", "the same on each ansible-core", suites.unit_everywhere, ("setup",), ("build",), lanes=2
    ),
    Step(
        "newest",
        "unit tests and sanity on the newest versions, without locks",
        newest.newest,
        ("setup",),
        ("build",),
        lanes=2,
        uses=COPY,
    ),
    Step(
        "cluster",
        "start or reuse a Kubernetes",
        cluster.up,
        ("build",),
        uses=CLUSTER,
        takes_kubeconfig=True,
    ),
    Step(
        "integration",
        "pytest with clusters",
        suites.integration,
        ("build",),
        uses=SEVERAL_CLUSTERS,
        proves="A real API server does what the cluster in memory does, and whole playbooks do what they"
        " promise, with these requests only. Also rulebooks, the HTML report and the execution environment.",
    ),
    Step(
        "kubernetes-oldest",
        "pytest with the oldest Kubernetes and Helm",
        suites.on_oldest_kubernetes,
        ("build",),
        uses=SEVERAL_CLUSTERS,
    ),
    Step(
        "some-faults",
        "each fault that a run survives, by one test",
        suites.some_faults,
        ("build",),
        lanes=0,
        uses=WAITING,
        proves="A run survives each of the 16 faults.",
    ),
    Step("faults", "all of them", suites.faults, ("build",), uses=WAITING | SEVERAL_CLUSTERS),
    Step(
        "molecule-default",
        "molecule on the cluster",
        suites.molecule_default,
        ("build",),
        lanes=0,
        uses=CLUSTER | WAITING,
    ),
    Step(
        "molecule-kind",
        "molecule with kind",
        suites.molecule_kind,
        ("build",),
        lanes=0,
        uses=WAITING | SEVERAL_CLUSTERS,
    ),
    Step("molecule", "both molecule scenarios", suites.molecule_all),
    Step(
        "containers",
        "pytest with real containers, on kind",
        suites.containers,
        ("build",),
        lanes=0,
        uses=WAITING | SEVERAL_CLUSTERS,
    ),
    Step(
        "kind",
        "molecule and pytest with real containers, on one kind cluster",
        suites.on_kind,
        ("build",),
        lanes=0,
        uses=WAITING | SEVERAL_CLUSTERS,
        proves="Errands, probes and jobs work with real processes, volumes and `exec`. Roles and playbooks"
        " work beside other modules.",
    ),
    Step("cluster-down", "end the cluster", cluster.down, ("setup",)),
    Step("demo", "deploy the example release", shows.demo, takes_kubeconfig=True),
    Step("pictures", "make the pictures of the documentation again", shows.pictures),
    Step("bench", "measure", shows.bench, ("build",), lanes=2, uses=WAITING),
    Step("step-table", "write what the last `make test` has measured to tests/README.md", _write_step_table),
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
