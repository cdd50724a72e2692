# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The state of a module that Kyma's lifecycle manager (KLM) manages: of its report and what runs. Pure."""

from __future__ import annotations

from typing import NamedTuple

from .._runs.records.modules import DELETING, ERROR, GIVEN_UP, PROCESSING, READY, WARNING
from .klm_module import KlmModule
from .kyma_resource import Entry, KlmStatus

ERROR_SECONDS, ERROR_UPDATES = 30.0, 2
"""How long KLM reports an error, and how often anew, before it counts: KLM tries again every two seconds."""
UPDATES_OF_UNKNOWN_VERSION = 2
"""How often KLM reports the same after a write, before it counts for an operator without a version."""


class Sightings(NamedTuple):
    """How long a wait has seen what it sees.

    Attributes:
        updates: how often KLM has written its status since our last write; None if we wrote nothing.
        error_seconds: for how long it has reported an error without a break.
        error_updates: how often it has done so.
    """

    updates: int | None = None
    error_seconds: float = 0.0
    error_updates: int = 0


NOTHING_SEEN = Sightings()


class KlmState(NamedTuple):
    """The state of a module.

    Attributes:
        state: as this collection reports it.
        message: why, in a sentence.
        is_done: whether there is nothing to wait for.
        is_failure: whether that fails the module.
    """

    state: str
    message: str = ""
    is_done: bool = False
    is_failure: bool = False


def assess_module(module: KlmModule, desired: Entry, seen: Sightings = NOTHING_SEEN) -> KlmState:
    """The state of a managed module whose entry is written.

    Args:
        module: as it is now.
        desired: its entry.
        seen: how long it has been so.
    """
    status, version = module.status, module.version_after(desired)
    if status is None or status.state in ("", "Processing"):
        return KlmState(PROCESSING, _said(status))
    if status.state == "Deleting":
        return KlmState(DELETING, _said(status))
    if status.state == "Unmanaged":
        return KlmState(PROCESSING, "KLM has not taken it back yet")
    if status.state == "Error":
        is_lasting = seen.error_seconds >= ERROR_SECONDS and seen.error_updates >= ERROR_UPDATES
        return KlmState(ERROR if is_lasting else PROCESSING, _said(status), is_lasting, is_lasting)
    if status.awaits_window:
        downtime = f"{version} requires downtime, and waits for KLM's maintenance window"
        return KlmState(WARNING, downtime, is_done=True)
    if status.is_lookup_error and module.goes_down(version):
        return KlmState(ERROR, _said(status), is_done=True, is_failure=True)
    problem = _explain_unproved(module, status, version, module.channel_after(desired), seen)
    if problem:
        return KlmState(PROCESSING, problem)
    if status.state == "Ready":
        return KlmState(READY, is_done=True)
    return KlmState(WARNING, _said(status), is_done=True)


def describe_module(module: KlmModule) -> KlmState:
    """The state of a module as it is, whatever is desired of it."""
    if module.entry is None:
        return KlmState(DELETING, _said(module.status))
    if module.is_given_up:
        return KlmState(GIVEN_UP if module.is_unmanaged else PROCESSING, _said(module.status))
    return assess_module(module, module.entry, Sightings(None, ERROR_SECONDS, ERROR_UPDATES))


def _explain_unproved(
    module: KlmModule, status: KlmStatus, version: str, channel: str, seen: Sightings
) -> str:
    """Why KLM's Ready is no proof yet; empty if it is: it may be older than the write, or the operator."""
    operator = module.operator
    if version and (status.version, status.channel) != (version, channel):
        reported = f"{status.version or 'no version'} of channel {status.channel or '(none)'}"
        return f"KLM reports {reported}, and channel {channel} has {version}"
    if operator.exists and operator.version and version and operator.version != version:
        return f"KLM has {version}, and its operator still runs {operator.version}"
    if operator.problem:
        return f"KLM has {version}, and its operator is not ready: {operator.problem}"
    is_seen = seen.updates is None or seen.updates >= UPDATES_OF_UNKNOWN_VERSION
    if not operator.version and not is_seen:
        return f"KLM reports {version}, and what runs does not say its version"
    return ""


def _said(status: KlmStatus | None) -> str:
    if status is None:
        return "KLM does not report it yet"
    return f"KLM: {status.message}" if status.message else ""


def describe_wait(status: KlmStatus | None, message: str, age: str, *, is_silent: bool) -> str:
    """What a module was waiting for when its time was up, and what goes on, in words.

    Args:
        status: what KLM says of it.
        message: what it waits for.
        age: of what KLM says; empty if KLM has never said anything.
        is_silent: whether KLM has written nothing since our write.
    """
    report = " ".join(filter(None, (status.state, status.version))) if status else "nothing of it"
    reasons = "; ".join(filter(None, (f"KLM reports {report}", message)))
    if is_silent or not age:
        last = f"KLM last wrote this status {age} ago" if age else "KLM has never written a status"
        return f"{reasons}. {last}: it may not reach this cluster"
    return f"{reasons}. KLM wrote that {age} ago, and goes on by itself. Run again, or set wait: false"
