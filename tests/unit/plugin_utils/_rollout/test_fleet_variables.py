# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Variables of hosts that a rollout in rings can't have are refused by their names."""

from __future__ import annotations

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._errors import LifecycleError
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._rollout.fleet_variables import (
    OTHERS,
    refuse_variables,
)

RINGS = {"rings": "kyma_rings", "soak": "kyma_soak"}


def test_variables_of_rings_must_be_the_same_for_all_hosts() -> None:
    hosts = {"c1": {"kyma_soak": "30m"}, "c2": {"kyma_soak": "30m"}, "r1": {}}
    with pytest.raises(LifecycleError, match=r"soak \(kyma_soak\) is '30m' for c1 and None for r1"):
        refuse_variables(hosts, RINGS)
    refuse_variables({**hosts, "r1": {"kyma_soak": "30m"}}, RINGS)


@pytest.mark.parametrize("name", OTHERS)
def test_other_ways_to_deploy_are_refused(name: str) -> None:
    refuse_variables({"c1": {name: ""}}, RINGS)
    with pytest.raises(LifecycleError, match=rf"\({name}\) of r1 can't be combined with rings"):
        refuse_variables({"c1": {}, "r1": {name: 1}}, RINGS)


def test_all_problems_are_reported_together() -> None:
    hosts = {"c1": {"kyma_serial": 1, "kyma_soak": "1h"}, "r1": {"kyma_plan": "plan.zip"}}
    with pytest.raises(LifecycleError) as refused:
        refuse_variables(hosts, RINGS)
    assert len(str(refused.value).splitlines()) == 3
