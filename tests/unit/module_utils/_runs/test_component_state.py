# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The state of a component, for every combination of what a record says of it."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._result_codec import to_result
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.component_state import (
    ComponentState,
    component_states,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.outcomes import ENDS, ComponentOutcome


@pytest.mark.parametrize("state", ENDS)
@pytest.mark.parametrize("error", ["", "no such image"])
@pytest.mark.parametrize("kind", ["component", "module"])
@pytest.mark.parametrize("names", [(), ("app",), ("app", "late")])
def test_a_component_has_its_recorded_state_and_one_without_an_outcome_was_not_started(
    state: str, error: str, kind: str, names: tuple[str, ...]
) -> None:
    outcome = to_result(ComponentOutcome("app", state, error=error, owner_kind=kind))
    expected = {"app": ComponentState("app", state, error, kind)}
    if "late" in names:
        expected["late"] = ComponentState("late", "not started", "the run ended before it")
    assert component_states([outcome], names) == expected
    assert expected["app"].label == f"{kind} app"


@pytest.mark.parametrize("entry", [{"name": "app"}, {"name": "app", "state": None, "error": None}])
def test_an_entry_without_a_state_has_none(entry: dict[str, Any]) -> None:
    assert component_states([entry])["app"] == ComponentState("app", "")
