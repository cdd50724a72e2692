# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Misspelt variables are warned of, once, and a user's own ones never."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
import yaml
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._carrier.unread_variables import (
    documented_names,
    internal_names,
    misspelt_variables,
    variable_warnings,
)

from tests.cluster.paths import ROOT

MISSPELT = {
    "kyma_componet_timeout": "kyma_component_timeout",
    "kyma_relase": "kyma_release",
    "kyma_kubconfig": "kyma_kubeconfig",
    "kyma_overides": "kyma_overrides",
    "kyma_prun": "kyma_prune",
    "kyma_skip_migration": "kyma_skip_migrations",
    "kyma_seriall": "kyma_serial",
    "kyma_modules_chanel": "kyma_modules_channel",
    "kyma_cancel_runs": "kyma_cancel_run",
}
OWN = ("kyma_release_folder", "kyma_telemetry_replicas", "kyma_team", "kyma_component_webhook")


def warned(variables: Mapping[str, Any], text: str = "", **others: Mapping[str, Any]) -> list[str]:
    everybody = {**others, "live": variables}
    return variable_warnings(
        {**variables, "inventory_hostname": "live"}, list(everybody), everybody.__getitem__, lambda: text
    )


@pytest.mark.parametrize(("name", "meant"), MISSPELT.items())
def test_a_misspelt_name_is_told_with_the_one_that_is_meant(name: str, meant: str) -> None:
    assert warned({name: 1}) == [f"nothing reads the variable {name} (live): did you mean {meant}?"]


@pytest.mark.parametrize("name", OWN)
def test_a_users_own_variable_is_none(name: str) -> None:
    assert warned({name: 1}) == []


def test_every_documented_variable_is_known() -> None:
    specs = [
        name
        for file in (ROOT / "roles").glob("*/meta/argument_specs.yml")
        for entry in yaml.safe_load(file.read_text())["argument_specs"].values()
        for name in entry.get("options") or ()
    ]
    assert len(specs) > 100
    assert set(specs) <= documented_names()
    assert warned(dict.fromkeys(specs)) == []


def test_every_default_and_every_registered_name_is_known() -> None:
    defaults = [
        name
        for file in (ROOT / "roles").glob("*/defaults/main.yml")
        for name in yaml.safe_load(file.read_text()) or ()
    ]
    registered = ("kyma_result", "kyma_component_result", "kyma_stage")
    assert {*defaults, *registered} <= documented_names() | internal_names()


def test_another_variable_may_read_it() -> None:
    assert warned({"kyma_releases": "/srv", "kyma_release": "{{ kyma_releases }}/2.9"}) == []
    assert warned({"kyma_releases": "/srv", "mine": [{"a": "{{ kyma_releases }}"}]}) == []
    assert len(warned({"kyma_releases": "/srv", "kyma_release": "/srv/2.9"})) == 1


def test_the_plays_file_may_read_it() -> None:
    assert warned({"kyma_releases": "/srv"}, text="kyma_release: '{{ kyma_releases }}/2.9'") == []


def test_of_several_hosts_the_first_one_that_has_it_warns() -> None:
    assert warned({"kyma_relase": 1}, canary={"kyma_relase": 1}) == []
    assert len(warned({"kyma_relase": 1}, canary={"kyma_release": 1})) == 1


def test_other_names_are_looked_up_only_if_one_is_unknown() -> None:
    def never() -> list[str]:
        raise AssertionError("nobody needs them")

    assert misspelt_variables(["kyma_a", "other"], ["kyma_a"], never) == {}
