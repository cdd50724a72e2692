# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every step by name, and the ones that `make test` takes, in their order."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from . import checks, cluster, sanity, setup, shows, suites
from .outcome import IN_CI, Outcome


@dataclass(frozen=True)
class Step:
    """One thing that can be asked for by name.

    Attributes:
        name: what a person types.
        what: what it does, for people.
        do: the function that does it.
        needs: steps that must not have failed before it.
    """

    name: str
    what: str
    do: Callable[[], Outcome]
    needs: tuple[str, ...] = ()


_ALL = (
    Step("setup", "environments and collections in .build", setup.for_tests),
    Step("style", "ruff", checks.style, ("setup",)),
    Step("types", "mypy --strict", checks.types, ("setup",)),
    Step("yaml", "yamllint", checks.yaml, ("setup",)),
    Step("changelog", "antsibull-changelog lint", checks.changelog, ("setup",)),
    Step("docs", "antsibull-docs lint-collection-docs", checks.docs, ("setup",)),
    Step("sanity", "ansible-test sanity", sanity.sanity, ("setup",)),
    Step("lint", "ansible-lint, production profile", checks.lint, ("setup",)),
    Step("galaxy", "galaxy-importer", checks.galaxy, ("setup",)),
    Step("build", "the programs of a Kubernetes, from pinned sources", cluster.build, ("setup",)),
    Step("unit", "pytest without a cluster; some need the programs", suites.unit, ("setup",)),
    Step("cluster", "start or reuse a Kubernetes", cluster.up, ("build",)),
    Step("integration", "pytest with a cluster", suites.integration, ("cluster",)),
    Step("some-faults", "a few of the faults that a run survives", suites.some_faults, ("build",)),
    Step("faults", "all of them", suites.faults),
    Step("molecule-default", "molecule on the cluster", suites.molecule_default, ("cluster",)),
    Step("molecule-kind", "molecule with kind", suites.molecule_kind, ("build",)),
    Step("molecule", "both molecule scenarios", suites.molecule_all),
    Step("cluster-down", "end the cluster", cluster.down, ("setup",)),
    Step("demo", "deploy the example release", shows.demo),
    Step("bench", "measure", shows.bench),
    Step("fix", "mend what ruff can, and generate documentation anew", checks.fix),
)

STEPS: Mapping[str, Step] = {step.name: step for step in _ALL}

GROUPS: Mapping[str, Sequence[str]] = {
    "test": (
        *("setup", "style", "types", "yaml", "changelog", "docs", "sanity", "lint", "galaxy"),
        *("build", "unit", "cluster", "integration", "some-faults", "molecule-default", "molecule-kind"),
        *(("cluster-down",) if IN_CI else ()),  # a person's next time is quick with a cluster that runs
    ),
}
