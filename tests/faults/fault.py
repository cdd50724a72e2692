# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What can befall a request on its way to the API server and back."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass

WRITING_METHODS = frozenset({"POST", "PUT", "PATCH", "DELETE"})


@dataclass(frozen=True)
class Request:
    """One request, as it came.

    Attributes:
        number: how many came before it, and one.
        method: the HTTP method.
        path: without the query.
        query: without the question mark.
        peer: the port that it came from.
        content: its body, if it was small.
    """

    number: int
    method: str
    path: str
    query: str
    peer: int
    content: bytes = b""

    @property
    def writes(self) -> bool:
        """Whether it is there to change what the cluster keeps."""
        asks = self.path.endswith("reviews")
        return self.method in WRITING_METHODS and "dryRun=All" not in self.query and not asks

    @property
    def watches(self) -> bool:
        """Whether its answer goes on."""
        return "watch=true" in self.query

    def __str__(self) -> str:
        return f"{self.method} {self.path}" + (f"?{self.query}" if self.query else "")


@dataclass(frozen=True)
class Fault:
    """What befalls a request. One that is made of nothing lets it pass.

    Attributes:
        name: for the log.
        before: called before the request is sent on.
        after: called when the API server has answered, before the answer is sent back.
        answer: the status that the proxy answers with, instead of asking the API server; 0 for none.
        retry_after: seconds, for that answer; 0 for no such header.
        body: of that answer.
        reset_before: break the connection instead of sending the request on.
        reset_after: break it when the API server has answered: the request took effect, its answer is lost.
        cut: send half of the answer, then break the connection.
        heard: called with the body of the API server's answer.
    """

    name: str = ""
    before: Callable[[], None] | None = None
    after: Callable[[], None] | None = None
    answer: int = 0
    retry_after: int = 0
    body: bytes = b""
    reset_before: bool = False
    reset_after: bool = False
    cut: bool = False
    heard: Callable[[bytes], None] | None = None


NOTHING = Fault()
RESET = Fault("reset before it arrived", reset_before=True)
LOST = Fault("done, and its answer lost", reset_after=True)
CUT = Fault("done, and its answer cut in the middle", cut=True)

REASONS = {
    409: ("Conflict", "the object has been modified; please apply your changes to the latest version"),
    429: ("TooManyRequests", "too many requests, please try again later"),
    500: ("InternalError", "an internal error"),
    503: ("ServiceUnavailable", "the server is currently unable to handle the request"),
}


def refusal(status: int, retry_after: int = 0) -> Fault:
    """The API server's answer that it does not do it now."""
    reason, message = REASONS[status]
    status_object = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": status}
    body = json.dumps({**status_object, "reason": reason, "message": message}).encode()
    return Fault(f"answered {status}", answer=status, retry_after=retry_after, body=body)


def slow(seconds: float) -> Fault:
    """An answer that takes its time."""
    return Fault(f"answer delayed by {seconds:g} s", after=lambda: time.sleep(seconds))


class Once:
    """Befalls the first request that is meant, and lets all others pass.

    Attributes:
        struck: the request that it was; None as long as none came.
    """

    def __init__(self, matches: Callable[[Request], bool], fault: Fault) -> None:
        self.struck: Request | None = None
        self._matches = matches
        self._fault = fault

    def __call__(self, request: Request) -> Fault:
        if self.struck is not None or not self._matches(request):
            return NOTHING
        self.struck = request
        return self._fault
