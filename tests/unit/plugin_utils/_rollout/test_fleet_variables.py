# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Variables of hosts that a rollout in rings can't have are refused by their names."""

from __future__ import annotations

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._errors import LifecycleError
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._rollout.fleet_variables import (
    OTHERS,
    refusal_without_rings,
    refuse_file,
    refuse_other_rings,
    refuse_variables,
)

RINGS = {"rings": "kyma_rings", "ring_soak": "kyma_ring_soak"}


def test_variables_of_rings_must_be_the_same_for_all_hosts() -> None:
    hosts = {"c1": {"kyma_ring_soak": "30m"}, "c2": {"kyma_ring_soak": "30m"}, "r1": {}}
    with pytest.raises(LifecycleError, match=r"\(kyma_ring_soak\) is '30m' for c1 and not set for r1"):
        refuse_variables(hosts, RINGS)
    refuse_variables({**hosts, "r1": {"kyma_ring_soak": "30m"}}, RINGS)


@pytest.mark.parametrize("name", OTHERS)
def test_other_ways_to_deploy_are_refused(name: str) -> None:
    refuse_variables({"c1": {name: ""}}, RINGS)
    with pytest.raises(LifecycleError, match=rf"\({name}\) of r1 can't be combined with rings"):
        refuse_variables({"c1": {}, "r1": {name: 1}}, RINGS)


def test_all_problems_are_reported_together() -> None:
    hosts = {"c1": {"kyma_serial": 1, "kyma_ring_soak": "1h"}, "r1": {"kyma_plan": "plan.zip"}}
    with pytest.raises(LifecycleError) as refused:
        refuse_variables(hosts, RINGS)
    assert len(str(refused.value).splitlines()) == 3


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("kyma_soak", "kyma_soak is no variable of rings. Rename it to kyma_ring_soak"),
        ("kyma_approve", "kyma_approve is no variable of rings. Rename it to kyma_ring_approve"),
        ("kyma_ring_sok", "kyma_ring_sok is no variable of rings: did you mean kyma_ring_soak?"),
        ("kyma_ring_xyzxyzxyzxyzxyz", "they are kyma_ring_soak, kyma_rings"),
    ],
)
def test_a_misspelt_variable_of_rings_is_refused_with_the_nearest_name(name: str, line: str) -> None:
    with pytest.raises(LifecycleError) as refused:
        refuse_variables({"c1": {}, "r1": {name: "2h", "kyma_ring": "rest"}}, RINGS)
    assert line in str(refused.value)


def test_rings_that_differ_between_hosts_are_refused_with_a_place_for_them() -> None:
    refuse_other_rings({"c1": {"kyma_ring_soak": "30m"}, "r1": {}})
    with pytest.raises(LifecycleError) as refused:
        refuse_other_rings({"c1": {"kyma_rings": ["a"]}, "r1": {"kyma_rings": ["a", "b"]}})
    assert str(refused.value) == (
        "rings (kyma_rings) is ['a'] for c1 and ['a', 'b'] for r1, and must be the same for all hosts."
        " Set it for all hosts, such as in group_vars/all.yml beside the inventory"
    )


def test_a_file_of_rings_has_only_variables_of_rings() -> None:
    refuse_file("rings.yml", ["kyma_rings"], RINGS.values())
    with pytest.raises(LifecycleError, match=r"rings\.yml has kyma_release, and may only have"):
        refuse_file("rings.yml", ["kyma_rings", "kyma_release"], RINGS.values())


def refusal(variables: dict[str, object], rings: object = None) -> str:
    return refusal_without_rings(variables, rings)


@pytest.mark.parametrize(
    "variables", [{}, {"kyma_ring_approve": ""}, {"kyma_ring_soak": "", "kyma_ring": "a"}]
)
def test_a_deployment_without_any_option_of_rings_begins(variables: dict[str, object]) -> None:
    assert refusal(variables) == ""


@pytest.mark.parametrize(
    "variables",
    [{"kyma_ring_soak": "2h"}, {"kyma_ring_minimum": "50%"}, {"kyma_ring_aprove": ["rest"]}],
)
@pytest.mark.parametrize("rings", [None, "", []])
def test_a_deployment_with_options_of_rings_and_without_rings_is_refused_with_the_way_out(
    variables: dict[str, object], rings: object
) -> None:
    message = refusal(variables, rings)
    assert f"nothing has begun here: {next(iter(variables))} is set, and this call" in message
    assert message.splitlines()[1:] == [
        """  -e '{"kyma_rings": ["canary", "rest"]}'""",
        "To deploy without rings instead, say so:",
        "  -e kyma_rings=none",
    ]
    assert refusal(variables, "none") == ""


def test_rings_that_are_set_are_named_in_the_way_out() -> None:
    message = refusal({"kyma_ring_soak": "2h"}, ["first", "later"])
    assert "kyma_rings, kyma_ring_soak are set" in message
    assert """-e '{"kyma_rings": ["first", "later"]}'""" in message


def test_a_renamed_variable_is_refused_in_any_deployment() -> None:
    assert "Rename it to kyma_ring_soak" in refusal({"kyma_soak": "2h"}, "none")
