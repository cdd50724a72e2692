# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The Events about our custom resources, which ``kubectl describe`` shows."""

from __future__ import annotations

import hashlib
import time
from contextlib import suppress
from dataclasses import dataclass

from .._cluster.cluster import Cluster, Object, WriteTerms
from .._errors import LifecycleError
from .._text import one_line
from .._timestamp import timestamp

CLUSTER_SCOPED_NAMESPACE = "default"
"""Where Kubernetes has the Events about objects without a namespace."""
SECONDS_TO_WRITE = 5.0
LONGEST_MESSAGE = 1000


@dataclass(frozen=True)
class EventNote:
    """An Event for people.

    Attributes:
        reason: a word in CamelCase.
        message: a sentence.
        is_warning: whether something went wrong.
    """

    reason: str
    message: str
    is_warning: bool = False


def write_event(
    cluster: Cluster, about: Object, note: EventNote, source: str, occasion: str | None = None
) -> None:
    """Write an Event, by one request. It is optional for people: one that can't be written is left out.

    Args:
        cluster: that has the object.
        about: the object: ``apiVersion``, ``kind``, ``name``, ``uid``, and ``namespace`` if it has one.
        note: what the Event says.
        source: who reports it.
        occasion: for a note that may be repeated: the same note about the same object on the same occasion is
            the same Event. None for others: then the server names it, so nothing is looked for if its answer
            is lost.
    """
    prefix = f"{about['name'][:200].rstrip('-.')}."
    name = {"generateName": prefix}
    if occasion is not None:
        text = f"{about['uid']}/{occasion}/{note.reason}/{note.message}"
        name = {"name": prefix + hashlib.sha256(text.encode(errors="replace")).hexdigest()[:16]}
    namespace, now = about.get("namespace") or CLUSTER_SCOPED_NAMESPACE, timestamp()
    end = time.monotonic() + SECONDS_TO_WRITE
    event = {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {**name, "namespace": namespace},
        "involvedObject": about,
        "reason": note.reason,
        "message": one_line(note.message, LONGEST_MESSAGE),
        "type": "Warning" if note.is_warning else "Normal",
        "source": {"component": source},
        "reportingComponent": source,
        "firstTimestamp": now,
        "lastTimestamp": now,
        "count": 1,
    }
    with suppress(LifecycleError):
        cluster.with_write_terms(WriteTerms(lambda: end - time.monotonic())).create(event)
