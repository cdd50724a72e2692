# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The longest chain of requests that wait for each other, from the audit log of a server far away.

A client that waits for an answer sends its next request a round trip after the server has answered. So
requests that arrive sooner do not wait for it. On a server that is near, both look alike.

A client that asks the same again, and has written nothing meanwhile, waits for the cluster and not for an
answer. How often it does that depends on the cluster, so these requests don't count.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from urllib.parse import unquote

from .audit import Request

TOLERANCE = 0.9
"""The share of the round trip after which a request counts as a later one: its answer may
arrive before the log says so."""
LEASES = "/apis/coordination.k8s.io/"


def longest_chain(requests: Iterable[Request], round_trip: float) -> list[Request]:
    """The most requests of which each arrived after the answer to the one before it was at the client.

    Args:
        requests: of one client. For a watch, only its begin counts.
        round_trip: seconds between an answer of the server, and a request that waits for it.
    """
    chain: list[Request] = []
    for request in sorted(_without_polls(requests), key=lambda one: one.answered):
        if not chain or request.time - chain[-1].answered >= TOLERANCE * round_trip:
            chain.append(request)
    return chain


def _without_polls(requests: Iterable[Request]) -> Iterator[Request]:
    read: set[str] = set()
    for request in sorted(requests, key=lambda one: one.time):
        if request.persists and not request.uri.startswith(LEASES):
            read.clear()
        if request.verb not in ("get", "list") or request.uri not in read:
            yield request
        read.add(request.uri)


def describe_chain(chain: Sequence[Request], requests: Sequence[Request]) -> str:
    """A line for each request of a chain: when it arrived, how many did until the next, and what it is."""
    lines = [f"{len(chain)} of {len(requests)} requests wait for each other:"]
    times = [request.time for request in chain]
    for start, end, request in zip(times, [*times[1:], float("inf")], chain, strict=True):
        beside = sum(start <= one.time < end for one in requests)
        lines.append(f"{start - times[0]:7.2f} s {beside:4d} {request.verb:6} {unquote(request.uri)[:150]}")
    return "\n".join(lines)
