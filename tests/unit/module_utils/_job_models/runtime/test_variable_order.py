# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Variables have an order in which each is expanded, and one order for all that mean the same."""

from __future__ import annotations

import re

from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.runtime.variable_order import (
    canonical_order,
    expanding_order,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.extent import examples

VALUES = st.lists(st.sampled_from(["x", "$(A)", "$(B)", "$(C)", "$(D)", "$(OTHER)"]), max_size=3).map("".join)
VARIABLES = st.dictionaries(st.sampled_from("ABCD"), VALUES)


def variables(env: dict[str, str]) -> list[Object]:
    return [{"name": name, "value": value} for name, value in env.items()]


def expanded(entries: list[Object]) -> dict[str, str]:
    """The environment of a container, as the kubelet makes it."""
    env: dict[str, str] = {}
    for one in entries:
        env[one["name"]] = re.sub(r"\$\((\w+)\)", lambda used: env.get(used[1], used[0]), one["value"])
    return env


@settings(max_examples=examples(200), deadline=None)
@given(VARIABLES, VARIABLES)
def test_the_canonical_order_means_the_same(env: dict[str, str], more: dict[str, str]) -> None:
    entries = variables(env)
    assert expanded(canonical_order(entries)) == expanded(entries)
    twice = entries + variables(more)
    assert expanded(canonical_order(twice)) == expanded(twice)


@settings(max_examples=examples(200), deadline=None)
@given(VARIABLES.flatmap(lambda env: st.tuples(st.just(env), st.permutations([*env]))))
def test_orders_with_one_canonical_order_mean_the_same(given_env: tuple[dict[str, str], list[str]]) -> None:
    env, names = given_env
    one, other = variables(env), variables({name: env[name] for name in names})
    if canonical_order(one) == canonical_order(other):
        assert expanded(one) == expanded(other)


@settings(max_examples=examples(100), deadline=None)
@given(VARIABLES.flatmap(lambda env: st.tuples(st.just(env), st.permutations([*env]))))
def test_the_order_of_a_mapping_means_nothing(given_env: tuple[dict[str, str], list[str]]) -> None:
    env, names = given_env
    assert expanding_order(variables(env)) == expanding_order(variables({name: env[name] for name in names}))


def test_a_variable_comes_after_those_that_it_uses() -> None:
    env = {"A": "$(C)/a", "B": "b", "C": "$(D)/c", "D": "d", "E": "$(E)/$(HOME)"}
    assert expanded(expanding_order(variables(env))) == {
        "A": "d/c/a",
        "B": "b",
        "C": "d/c",
        "D": "d",
        "E": "$(E)/$(HOME)",
    }
    assert [one["name"] for one in expanding_order(variables({"B": "$(A)", "A": "$(B)"}))] == ["A", "B"]
