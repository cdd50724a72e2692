# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Why an object is not healthy, in a sentence or two: pure, from the evidence of ``diagnosis.py``.

No user should need ``kubectl describe``. The text quotes reasons, messages of conditions and events, exit
codes and termination messages. It never has logs or values of environment variables, as those may contain
secrets.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..._cluster.cluster import Object, Ref
from ..._text import one_line
from .result import conditions, is_true, number, spec, status
from .status import Health

LONGEST_CLAUSE = 300
"""The maximum length of one foreign message, in characters; some are whole pages."""

STARTING = frozenset({"ContainerCreating", "PodInitializing"})
"""Waiting reasons that explain nothing: the cause is in the pod's events."""


_PREEMPTION = re.compile(
    r"(?:[.,]? no new claims to deallocate,|\.) preemption: \d+/\d+ nodes are available: .*"
)
_BACK_OFF = re.compile(
    r'(?P<back_off>Back-off pulling image "[^"]*": )(?:[A-Z]\w+: )?(?P<cause>.+)', re.DOTALL
)
"""The message of a container that waits before the next pull: the last error with its reason."""
_PULL_STEPS = re.compile(
    r'rpc error: code = \w+ desc = |failed to (?:pull and unpack image|resolve reference) "[^"]*": '
)
"""What a container runtime puts in front of the cause."""
_PULL_EVENT = re.compile(r"Error: (?:ImagePullBackOff|ErrImagePull)$")
"""The message of an event that only repeats a reason."""


@dataclass(frozen=True)
class Evidence:
    """The evidence about an unhealthy object.

    Attributes:
        pod: its hanging pod, or None.
        claim: the unbound claim that this pod waits for, or None.
        events: warnings about the claim, the pod or the object: the last of these that exists.
        unread: why some of it could not be read, or empty.
    """

    pod: Object | None = None
    claim: Object | None = None
    events: Sequence[Object] = ()
    unread: str = ""


def explain(ref: Ref, health: Health, evidence: Evidence) -> str:
    """A sentence with the object, its state, its hanging pod, and the cause."""
    clauses = [f"{ref}: {tidy(health.message or health.reason or health.state)}"]
    if evidence.pod is not None:
        clauses.append(_about_pod(evidence.pod))
    if evidence.claim is not None:
        clauses.append(_about_claim(evidence.claim))
    event = telling(evidence.events)
    if event is not None and not _is_known(event, " ".join(clauses)):
        clauses.append(f"{event.get('reason') or 'event'}: {tidy(event.get('message'))}")
    if evidence.unread:
        clauses.append(f"why could not be read: {tidy(evidence.unread)}")
    return "; ".join(clauses)


def hanging(pods: Iterable[Object]) -> Object | None:
    """The pod that explains most about the delay; None if all of them are fine.

    The worst comes first, the newest among equals, and pods that are being deleted last.
    """
    candidates = sorted(
        (p for p in pods if _badness(p)),
        key=lambda p: (
            not p["metadata"].get("deletionTimestamp"),
            _badness(p),
            p["metadata"].get("creationTimestamp") or "",
        ),
    )
    return candidates[-1] if candidates else None


def needs_claim(pod: Mapping[str, Any]) -> bool:
    """Whether no node accepts this pod because a volume is missing."""
    scheduled = conditions(pod).get("PodScheduled", {})
    return "persistentvolumeclaim" in str(scheduled.get("message") or "").lower()


def unbound_claim(pod: Mapping[str, Any], claims: Iterable[Object]) -> Object | None:
    """The first claim of a pod that has no volume."""
    names = [
        (volume.get("persistentVolumeClaim") or {}).get("claimName")
        for volume in spec(pod).get("volumes") or ()
    ]
    by_name = {claim["metadata"]["name"]: claim for claim in claims}
    for name in names:
        claim = by_name.get(name)
        if claim is not None and status(claim).get("phase") != "Bound":
            return claim
    return None


def telling(events: Iterable[Object]) -> Object | None:
    """The newest warning; one that only announces a retry or repeats a reason ranks after all others."""
    warnings = [e for e in events if e.get("type") == "Warning" and e.get("message")]
    return max(warnings, key=lambda e: (not _is_repetition(e), _time_of(e)), default=None)


def tidy(text: object) -> str:
    """A foreign message on one line, of limited length, without passwords in URLs."""
    line = re.sub(r"://[^/\s:@]+:[^/\s@]+@", "://***@", one_line(text or ""))
    # The scheduler adds that it found no pod to evict either, which is never the cause.
    line = _PREEMPTION.sub("", line).rstrip(".")
    return one_line(line, LONGEST_CLAUSE)


def _is_repetition(event: Mapping[str, Any]) -> bool:
    return event.get("reason") == "BackOff" or bool(_PULL_EVENT.match(str(event["message"])))


def _is_known(event: Mapping[str, Any], text: str) -> bool:
    """Whether a text already has what an event says, for an image also in other words."""
    message = tidy(event.get("message"))
    is_pull = message.startswith("Failed to pull image ") or bool(_PULL_EVENT.match(message))
    return message in text or (is_pull and bool(_BACK_OFF.search(text)))


def _badness(pod: Mapping[str, Any]) -> int:
    phase = status(pod).get("phase")
    if phase == "Succeeded" or (phase == "Running" and is_true(conditions(pod).get("Ready"))):
        return 0
    if phase == "Failed" or any(_is_broken(c) for c in _containers(pod)):
        return 3
    return 2 if phase != "Running" else 1


def _is_broken(container: Mapping[str, Any]) -> bool:
    waiting = _state(container, "waiting")
    ended = _state(container, "terminated")
    return bool(waiting and waiting.get("reason") not in STARTING) or number(ended, "exitCode") != 0


def _about_pod(pod: Mapping[str, Any]) -> str:
    name = f"pod {pod['metadata']['name']}"
    scheduled = conditions(pod).get("PodScheduled", {})
    if scheduled.get("status") == "False":
        return f"{name}: {scheduled.get('reason')}: {tidy(scheduled.get('message'))}"
    broken = next((c for c in _containers(pod) if _is_broken(c)), None)
    if broken is not None:
        return f"{name}, container {broken.get('name')}: {_about_container(broken, pod)}"
    if status(pod).get("phase") == "Failed":
        words = [str(status(pod)[key]) for key in ("reason", "message") if status(pod).get(key)]
        return f"{name}: {tidy(': '.join(words) or 'it has failed')}"
    waiting = next((c for c in _containers(pod) if not c.get("ready")), None)
    if waiting is not None:
        waiting_reason = _state(waiting, "waiting").get("reason") or "not started"
        state = "it runs but is not ready" if "running" in (waiting.get("state") or {}) else waiting_reason
        return f"{name}, container {waiting.get('name')}: {state}"
    return f"{name}: {str(status(pod).get('phase') or 'not started yet').lower()}"


def _about_container(container: Mapping[str, Any], pod: Mapping[str, Any]) -> str:
    waiting, ended = _state(container, "waiting"), _state(container, "terminated")
    if not waiting:
        return _about_end(ended, container, pod)
    reason = str(waiting.get("reason") or "waiting")
    last = (container.get("lastState") or {}).get("terminated") or {}
    if reason == "CrashLoopBackOff" and last:
        restarts = number(container, "restartCount")
        return f"{reason} after {restarts} restarts, {_about_end(last, container, pod)}"
    message = str(waiting.get("message") or "")
    # The kubelet alternates between these two reasons while it tries again: they are one state.
    if reason == "ErrImagePull" and message and container.get("image"):
        reason, message = "ImagePullBackOff", f'Back-off pulling image "{container["image"]}": {message}'
    if pull := _BACK_OFF.fullmatch(message):
        message = pull["back_off"] + _PULL_STEPS.sub("", pull["cause"])
    return f"{reason}: {tidy(message)}" if message else reason


def _about_end(ended: Mapping[str, Any], container: Mapping[str, Any], pod: Mapping[str, Any]) -> str:
    reason = ended.get("reason")
    text = f"ended with exit code {number(ended, 'exitCode')}" + (f" ({reason})" if reason else "")
    message = tidy(ended.get("message"))
    return f"{text}: {message}" if message and not _shows_log(container, pod) else text


def _shows_log(container: Mapping[str, Any], pod: Mapping[str, Any]) -> bool:
    # With this policy the kubelet uses the end of the log as the termination message.
    every = [*(spec(pod).get("initContainers") or ()), *(spec(pod).get("containers") or ())]
    return any(
        c.get("name") == container.get("name")
        and c.get("terminationMessagePolicy") == "FallbackToLogsOnError"
        for c in every
    )


def _about_claim(claim: Mapping[str, Any]) -> str:
    name, class_name = claim["metadata"]["name"], spec(claim).get("storageClassName")
    if class_name is None:
        return f"claim {name} is not bound: it names no StorageClass, and the cluster has no default one"
    return f"claim {name} is not bound (StorageClass {class_name or 'none'})"


def _containers(pod: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [
        *(status(pod).get("initContainerStatuses") or ()),
        *(status(pod).get("containerStatuses") or ()),
    ]


def _state(container: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    return (container.get("state") or {}).get(name) or {}


def _time_of(event: Mapping[str, Any]) -> str:
    series = event.get("series") or {}
    return str(
        series.get("lastObservedTime")
        or event.get("lastTimestamp")
        or event.get("eventTime")
        or event["metadata"].get("creationTimestamp")
        or ""
    )
