# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which clusters may have a module, by their labels."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._module_catalog.restriction import (
    Restriction,
    explain_restriction,
    selector_faults,
)

BETA = {"operator.kyma-project.io/beta": "true"}
INTERNAL = {"operator.kyma-project.io/internal": "True"}


def matches(selector: Any, **labels: object) -> bool:
    assert list(selector_faults(selector)) == []
    return not explain_restriction(Restriction(selector=selector), labels)


def test_beta_and_internal_modules_need_the_label_of_the_cluster() -> None:
    beta, internal = Restriction(beta=True), Restriction(internal=True)
    assert explain_restriction(Restriction(), {}) == ""
    assert explain_restriction(beta, BETA) == explain_restriction(internal, INTERNAL) == ""
    assert explain_restriction(beta, {"operator.kyma-project.io/beta": True}) == ""
    assert explain_restriction(beta, {"operator.kyma-project.io/beta": "false"}) != ""
    assert explain_restriction(beta, INTERNAL) == (
        'is a beta module, and the cluster has no label operator.kyma-project.io/beta: "true"'
    )
    assert explain_restriction(internal, BETA) == (
        'is an internal module, and the cluster has no label operator.kyma-project.io/internal: "true"'
    )
    assert "is an internal module" in explain_restriction(Restriction(beta=True, internal=True), BETA)


def test_an_empty_selector_matches_nothing() -> None:
    for selector in ({}, {"matchLabels": {}}, {"matchExpressions": []}, {"matchLabels": None}):
        assert not matches(selector)
        assert not matches(selector, plan="trial")


def test_all_requirements_of_a_selector_have_to_be_met() -> None:
    selector = {
        "matchLabels": {"plan": "trial"},
        "matchExpressions": [{"key": "region", "operator": "In", "values": ["eu", "us"]}],
    }
    assert matches(selector, plan="trial", region="us")
    assert explain_restriction(Restriction(selector=selector), {"plan": "trial", "region": "ap"}) == (
        "is for clusters with other labels: region In (eu, us)"
    )
    assert explain_restriction(Restriction(selector=selector), {}) == (
        "is for clusters with other labels: plan In (trial) and region In (eu, us)"
    )


@pytest.mark.parametrize(
    ("operator", "values", "absent", "same", "other"),
    [
        ("In", ["a"], False, True, False),
        ("NotIn", ["a"], True, False, True),
        ("Exists", [], False, True, True),
        ("DoesNotExist", [], True, False, False),
    ],
)
def test_operators(operator: str, values: list[str], absent: bool, same: bool, other: bool) -> None:
    selector = {"matchExpressions": [{"key": "k", "operator": operator, "values": values}]}
    assert [matches(selector), matches(selector, k="a"), matches(selector, k="b")] == [absent, same, other]


def test_a_label_that_yaml_takes_for_a_boolean() -> None:
    assert matches({"matchLabels": {"global": "true"}}, **{"global": True})


def test_an_unreadable_restriction_excludes_every_cluster() -> None:
    assert "can't be used" in explain_restriction(Restriction(is_unreadable=True), {**BETA, **INTERNAL})


@pytest.mark.parametrize(
    ("selector", "fault"),
    [
        ("plan=trial", "it is no mapping"),
        ({"matchLabels": ["a"]}, "matchLabels is no mapping of labels to texts"),
        ({"matchLabels": {"a": 1}}, "matchLabels is no mapping of labels to texts"),
        ({"matchExpressions": {"key": "a"}}, "matchExpressions is no list"),
        ({"matchExpressions": ["a"]}, "'a' in matchExpressions has no key"),
        (
            {"matchExpressions": [{"key": "a", "operator": "Is"}]},
            "the operator 'Is' for a is none of In, NotIn, Exists, DoesNotExist",
        ),
        ({"matchExpressions": [{"key": "a", "operator": "NotIn"}]}, "NotIn for a takes a list of values"),
        (
            {"matchExpressions": [{"key": "a", "operator": "Exists", "values": ["b"]}]},
            "Exists for a takes no values",
        ),
    ],
)
def test_faults_of_a_selector(selector: Any, fault: str) -> None:
    assert list(selector_faults(selector)) == [fault]
