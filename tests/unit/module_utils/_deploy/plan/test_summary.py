# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The plan for people: each line stands under the heading of its own component."""

from __future__ import annotations

from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Ref
from ansible_collections.kyma.lifecycle.plugins.module_utils._components.component_plan import (
    ComponentPlan,
    MigrationPlan,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.plan.release_plan import Plan
from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.plan.summary import summary_of
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.ownership.findings import (
    DriftOutcome,
    Finding,
)


def component(name: str, action: str, *, has_drifted: bool = False) -> ComponentPlan:
    finding = Finding(Ref("", "ConfigMap", "kyma-system", name), "data.a", "operator", "", DriftOutcome.CEDED)
    return ComponentPlan(name, "kyma-system", action, objects=1, findings=(finding,) if has_drifted else ())


def headings_of_drift(*components: ComponentPlan) -> dict[str, str]:
    """The heading over each line of drift, by the object that the line is about."""
    headings, heading = {}, ""
    for line in summary_of(Plan("2.9", "2.9", "", "", components)):
        if line.strip().startswith("drift: "):
            headings[line.partition("/")[2].partition(":")[0]] = heading
        else:
            heading = line
    return headings


def test_drift_stands_under_its_own_component() -> None:
    headings = headings_of_drift(
        component("istio", "unchanged", has_drifted=True),
        component("logging", "upgrade"),
        component("serverless", "unchanged", has_drifted=True),
        component("telemetry", "upgrade", has_drifted=True),
        component("kiali", "orphaned", has_drifted=True),
        component("gateway", "unchanged"),
        component("eventing", "unchanged", has_drifted=True),
    )
    assert {name: heading.split()[:2] for name, heading in headings.items()} == {
        "istio": ["unchanged", "istio"],
        "serverless": ["unchanged", "serverless"],
        "telemetry": ["upgrade", "telemetry"],
        "kiali": ["orphaned", "kiali"],
        "eventing": ["unchanged", "eventing"],
    }


def test_drift_stands_under_its_component_also_without_changes() -> None:
    headings = headings_of_drift(
        component("istio", "unchanged"),
        component("logging", "unchanged", has_drifted=True),
        component("kiali", "orphaned", has_drifted=True),
    )
    assert {name: heading.split() for name, heading in headings.items()} == {
        "logging": ["unchanged", "logging"],
        "kiali": ["orphaned", "kiali"],
    }


def test_a_component_with_a_heading_is_not_counted_again() -> None:
    lines = summary_of(
        Plan(
            "2.9",
            "2.9",
            "",
            "",
            (
                component("istio", "unchanged", has_drifted=True),
                component("gateway", "unchanged"),
                component("logging", "upgrade"),
            ),
        )
    )
    assert "  unchanged 1 component" in lines


def test_a_migration_without_need_has_a_line_for_a_note_but_not_for_a_provisional_verdict_alone() -> None:
    provisional = "provisional, as it depends on serverless"
    named = {"id": "logging/grow", "component": "logging", "phase": "pre", "verdict": "not_needed"}
    for notes, has_line in (((provisional,), False), ((provisional, "it takes long"), True)):
        one = MigrationPlan(**named, evidence="no claim", notes=notes, depends_on=("serverless",))
        plan = Plan("2.9", "2.9", "", "", (component("logging", "upgrade"),), migrations=(one,))
        for with_evidence in (False, True):
            lines = summary_of(plan, with_evidence=with_evidence)
            shown = [line for line in lines if "logging/grow" in line or provisional in line]
            assert len(shown) == 2 * (has_line or with_evidence)
