# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which requests count as a chain, by the times at which a distant server got them."""

from __future__ import annotations

from tests.support.audit import Request
from tests.support.request_chain import describe_chain, longest_chain


def request(name: str, arrived: float, answered: float) -> Request:
    return Request("get", name, f"/{name}", arrived, answered=answered)


def chain(*requests: Request) -> list[str]:
    return [one.target for one in longest_chain(requests, 1.0)]


def test_requests_that_wait_for_each_other_are_a_chain() -> None:
    assert chain(request("a", 0, 0.1), request("b", 1.1, 1.2), request("c", 2.3, 2.4)) == ["a", "b", "c"]


def test_a_request_that_arrives_before_the_client_has_the_answer_waits_for_none() -> None:
    assert chain(request("a", 0, 0.1), request("b", 0.2, 0.3), request("c", 0.9, 1.0)) == ["a"]


def test_one_long_request_beside_several_short_ones_does_not_shorten_their_chain() -> None:
    short = [request("a", 0.1, 0.2), request("b", 1.2, 1.3), request("c", 2.4, 2.5)]
    assert chain(request("long", 0, 2.4), *short) == ["a", "b", "c"]


def test_asking_the_same_again_waits_for_the_cluster_unless_something_was_written() -> None:
    polls = [request("a", 0, 0.1), request("a", 1.1, 1.2), request("a", 2.3, 2.4)]
    assert chain(*polls) == ["a"]
    write = Request("patch", "w", "/w", 1.15, answered=1.25)
    assert chain(polls[0], write, polls[2]) == ["a", "w", "a"]
    lease = Request("patch", "l", "/apis/coordination.k8s.io/v1/leases/l", 1.15, answered=1.25)
    assert chain(polls[0], lease, polls[2]) == ["a", "l"]


def test_the_order_in_the_log_does_not_matter() -> None:
    assert chain(request("b", 1.1, 1.2), request("a", 0, 0.1)) == ["a", "b"]


def test_a_chain_is_described_with_the_requests_beside_it() -> None:
    requests = [request("a", 0, 0.1), request("b", 0.2, 0.3), request("c", 1.2, 1.3)]
    text = describe_chain(longest_chain(requests, 1.0), requests)
    first, *lines = text.splitlines()
    assert first == "2 of 3 requests wait for each other:"
    assert [line.split()[2:] for line in lines] == [["2", "get", "/a"], ["1", "get", "/c"]]
