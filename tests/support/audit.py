# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The requests to a cluster, from its audit log."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

WRITING_VERBS = frozenset({"create", "update", "patch", "delete", "deletecollection"})


@dataclass(frozen=True)
class Request:
    """One request that was answered.

    Attributes:
        verb: as Kubernetes names it, e.g. ``list`` or ``patch``.
        target: ``resource namespace/name``, as far as the request named them.
        uri: with its query.
        time: when it arrived, in seconds since the epoch.
        user: who sent it, as the server names the user.
        status: of its answer.
        answered: when its answer ended, that of a watch when it began, in seconds since the epoch.
    """

    verb: str
    target: str
    uri: str
    time: float
    user: str = ""
    status: int = 0
    answered: float = 0.0

    @property
    def persists(self) -> bool:
        """Whether it was meant to change stored objects."""
        return self.verb in WRITING_VERBS and "dryRun=All" not in self.uri

    def __str__(self) -> str:
        return f"{self.verb} {self.uri}"


class AuditLog:
    """The requests of users outside the cluster itself."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @contextmanager
    def recorded(self) -> Iterator[list[Request]]:
        """A list that holds, after the block, the requests within it; none that is just being written."""
        requests: list[Request] = []
        start = self._path.stat().st_size if self._path.exists() else 0
        yield requests
        with self._path.open("rb") as file:
            file.seek(start)
            requests += [_request(line) for line in file if line.endswith(b"\n")]

    @property
    def path(self) -> Path:
        """Its file."""
        return self._path

    def since(self, position: int) -> tuple[list[Request], int]:
        """The requests after a position in the file, and the position after them."""
        requests = []
        with self._path.open("rb") as file:
            file.seek(position)
            for line in file:
                if line.endswith(b"\n"):
                    requests.append(_request(line))
                    position += len(line)
        return requests, position


def _request(line: bytes) -> Request:
    event = json.loads(line)
    ref = event.get("objectRef") or {}
    place = "/".join(ref[key] for key in ("namespace", "name") if ref.get(key))
    target = f"{ref.get('resource', '')} {place}".strip()
    time = datetime.fromisoformat(event["requestReceivedTimestamp"]).timestamp()
    ended = datetime.fromisoformat(event["stageTimestamp"]).timestamp()
    user = str(event["user"].get("username") or "")
    status = int((event.get("responseStatus") or {}).get("code") or 0)
    return Request(
        event["verb"],
        target,
        event["requestURI"],
        time,
        user,
        status,
        time if event["verb"] == "watch" else ended,
    )


def writes(requests: list[Request]) -> list[str]:
    """The requests that persist, as text."""
    return [str(request) for request in requests if request.persists]
