# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The state of a module by what KLM says and by what runs: the table of states, one row each."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._klm.klm_module import (
    KlmModule,
    Operator,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._klm.klm_state import (
    NOTHING_SEEN,
    KlmState,
    Sightings,
    assess_module,
    describe_wait,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._klm.kyma_resource import (
    KlmStatus,
)

ENTRY = {"name": "keda", "channel": "fast", "customResourcePolicy": "Ignore", "managed": True}
OLD, NEW = Operator(exists=True, version="1.0.0"), Operator(exists=True, version="2.0.0")
STARTING = Operator(exists=True, version="2.0.0", problem="Deployment kyma-system/keda: 0 of 1 are ready")
NO_VERSION = Operator(exists=True)
SKEW = "module template update not allowed: ignore channel skew (from fast to regular)"


def assessed(
    status: KlmStatus | None, operator: Operator, seen: Sightings, channel: str = "fast"
) -> KlmState:
    channels = {"regular": "1.0.0", "fast": "2.0.0"}
    entry = {**ENTRY, "channel": channel}
    module = KlmModule("keda", "regular", entry=entry, status=status, channels=channels, operator=operator)
    return assess_module(module, entry, seen)


def said(state: str, version: str = "2.0.0", channel: str = "fast", **more: Any) -> KlmStatus:
    return KlmStatus(state, version, channel, has_template=True, **more)


READY = said("Ready")
DONE, GOING_ON, FAILED = (True, False), (False, False), (True, True)


@pytest.mark.parametrize(
    ("status", "operator", "seen", "state", "end", "words"),
    [
        (READY, NEW, NOTHING_SEEN, "Ready", DONE, ""),
        (READY, NEW, Sightings(0), "Ready", DONE, ""),
        (
            READY,
            OLD,
            Sightings(0),
            "Processing",
            GOING_ON,
            "KLM has 2.0.0, and its operator still runs 1.0.0",
        ),
        (READY, STARTING, Sightings(0), "Processing", GOING_ON, "0 of 1 are ready"),
        # What KLM says is about the channel of before, as long as it has not seen the write.
        (
            said("Ready", "1.0.0", "regular"),
            OLD,
            Sightings(0),
            "Processing",
            GOING_ON,
            "1.0.0 of channel regular",
        ),
        # A channel that moves meanwhile.
        (said("Ready", "1.9.0"), NEW, Sightings(3), "Processing", GOING_ON, "channel fast has 2.0.0"),
        # An operator that does not say its version: KLM has to say it twice after the write.
        (READY, NO_VERSION, Sightings(0), "Processing", GOING_ON, "does not say its version"),
        (READY, NO_VERSION, Sightings(2), "Ready", DONE, ""),
        (READY, NO_VERSION, NOTHING_SEEN, "Ready", DONE, ""),
        (
            said("Ready", awaits_window=True),
            OLD,
            NOTHING_SEEN,
            "Warning",
            DONE,
            "2.0.0 requires downtime, and waits for KLM's maintenance window",
        ),
        (None, OLD, NOTHING_SEEN, "Processing", GOING_ON, "KLM does not report it yet"),
        (said(""), OLD, NOTHING_SEEN, "Processing", GOING_ON, ""),
        (said("Processing", message="pulling"), OLD, NOTHING_SEEN, "Processing", GOING_ON, "KLM: pulling"),
        (said("Warning", message="it is slow"), NEW, NOTHING_SEEN, "Warning", DONE, "KLM: it is slow"),
        (said("Warning", message="it is slow"), OLD, Sightings(0), "Processing", GOING_ON, "runs 1.0.0"),
        (said("Error", message="pull failed"), OLD, NOTHING_SEEN, "Processing", GOING_ON, "KLM: pull failed"),
        (said("Error"), OLD, Sightings(9, 29.0, 9), "Processing", GOING_ON, ""),
        (said("Error"), OLD, Sightings(9, 31.0, 1), "Processing", GOING_ON, ""),
        (
            said("Error", message="pull failed"),
            OLD,
            Sightings(9, 31.0, 2),
            "Error",
            FAILED,
            "KLM: pull failed",
        ),
        (said("Deleting"), NEW, NOTHING_SEEN, "Deleting", GOING_ON, ""),
        (said("Unmanaged"), NEW, NOTHING_SEEN, "Processing", GOING_ON, "has not taken it back yet"),
    ],
)
def test_the_word_of_klm_counts_only_with_its_operator(
    status: KlmStatus | None,
    operator: Operator,
    seen: Sightings,
    state: str,
    end: tuple[bool, bool],
    words: str,
) -> None:
    assessment = assessed(status, operator, seen)
    assert (assessment.state, (assessment.is_done, assessment.is_failure)) == (state, end)
    assert words in assessment.message
    assert words or not assessment.message or state != "Ready"


def test_a_refused_downgrade_that_others_have_caused_fails() -> None:
    skewed = said("Warning", "2.0.0", "fast", message=SKEW)
    assessment = assessed(skewed, NEW, NOTHING_SEEN, channel="regular")
    assert assessment == KlmState("Error", f"KLM: {SKEW}", is_done=True, is_failure=True)


@pytest.mark.parametrize(
    ("age", "is_silent", "words"),
    [
        ("6 s", False, "KLM wrote that 6 s ago, and goes on by itself. Run again, or set wait: false"),
        ("14 min", True, "KLM last wrote this status 14 min ago: it may not reach this cluster"),
        ("", True, "KLM has never written a status: it may not reach this cluster"),
    ],
)
def test_the_last_line_says_how_old_the_word_of_klm_is(age: str, words: str, *, is_silent: bool) -> None:
    text = describe_wait(READY, "its operator starts", age, is_silent=is_silent)
    assert text == f"KLM reports Ready 2.0.0; its operator starts. {words}"
