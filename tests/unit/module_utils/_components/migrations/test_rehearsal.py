# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The rehearsal of migrations executes the code of their run, in its order."""

from __future__ import annotations

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils.migration import (
    GLOBAL,
    Context,
    Migration,
    Phase,
    Verdict,
    needed,
    not_needed,
)

from tests.support.driver import config_map, deployer, healthy_cluster, release

STEPS: list[tuple[str, bool]] = []
"""The migrations that have run, each with whether it was rehearsed."""


class Marks(Migration):
    """Writes a ConfigMap of its name."""

    component = "shop"
    phase = Phase.PRE
    keep = "for tests"

    def check(self, ctx: Context) -> Verdict:
        marker = ctx.cluster.get("v1", "ConfigMap", self.mark(), "default")
        return not_needed("it has run") if marker else needed("it has not run")

    def run(self, ctx: Context) -> None:
        STEPS.append((self.mark(), ctx.rehearsal))
        made = config_map(self.mark())
        ctx.cluster.create({**made, "metadata": {**made["metadata"], "namespace": "default"}})

    @classmethod
    def mark(cls) -> str:
        return cls.__name__.lower()


class Zero(Marks):
    component = GLOBAL


class Yes(Marks):
    """The first of its component, although its name is the last."""


class Middle(Marks):
    after = ("shop/yes",)


class Again(Marks):
    after = ("shop/middle", "shop/yes")


class Before(Marks):
    """Of the phase after, although its name is the first."""

    phase = Phase.POST


class Final(Marks):
    component = GLOBAL
    phase = Phase.POST


@pytest.fixture(autouse=True)
def no_steps() -> None:
    STEPS.clear()


def test_migrations_are_rehearsed_in_the_order_in_which_they_run() -> None:
    someone = deployer(
        release("2.9", {"shop": [config_map("settings")]}),
        Final,
        Before,
        Again,
        Middle,
        Yes,
        Zero,
        cluster=healthy_cluster(),
    )
    planned = someone.plan()
    rehearsed = [name for name, _rehearsal in STEPS]
    assert all(is_rehearsal for _name, is_rehearsal in STEPS)
    STEPS.clear()
    assert someone.carry_out(planned)["state"] == "succeeded"
    assert not any(is_rehearsal for _name, is_rehearsal in STEPS)
    assert [name for name, _rehearsal in STEPS] == rehearsed
    assert rehearsed == ["zero", "yes", "middle", "again", "before", "final"]
