# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The endpoint answers what it has, refuses all else, and names an address that can't be used."""

from __future__ import annotations

import socket
import urllib.error
from http import HTTPStatus

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.endpoint.http_endpoint import (
    Answer,
    http_endpoint,
    parse_address,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._errors import LifecycleError

from tests.cluster import ports
from tests.support.http_answer import http_answer


@pytest.mark.parametrize(
    ("text", "parsed"),
    [
        ("127.0.0.1:8080", ("127.0.0.1", 8080)),
        (":8080", ("", 8080)),
        ("[::1]:9", ("::1", 9)),
        ("localhost:65535", ("localhost", 65535)),
    ],
)
def test_an_address_has_a_host_and_a_port(text: str, parsed: tuple[str, int]) -> None:
    assert parse_address(text) == parsed


@pytest.mark.parametrize("text", ["8080", "localhost", ":0", ":65536", "::1:80", "http://a:80", "a b:80"])
def test_another_address_is_refused(text: str) -> None:
    with pytest.raises(LifecycleError, match=r"use an address and a port, such as 127\.0\.0\.1:8080"):
        parse_address(text)


@pytest.mark.parametrize("host", ["127.0.0.1", ""])
def test_requests_are_answered_until_the_end(host: str) -> None:
    unready = (HTTPStatus.SERVICE_UNAVAILABLE, "the reason")
    answers: list[Answer] = [(HTTPStatus.OK, "fine"), unready, unready]
    port = ports.free(1)[0]
    address = f"127.0.0.1:{port}"
    with http_endpoint(f"{host}:{port}", {"/readyz": lambda: answers.pop(0)}):
        assert http_answer(address, "/readyz") == (200, "fine\n")
        assert http_answer(address, "/readyz?verbose") == (503, "the reason\n")
        assert http_answer(address, "/readyz", "HEAD") == (503, "")
        assert http_answer(address, "/etc/passwd") == (404, "use one of /readyz\n")
        assert http_answer(address, "/readyz", "POST")[0] == 501
    with pytest.raises(urllib.error.URLError):
        http_answer(address, "/readyz")


def test_a_port_in_use_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        address = f"127.0.0.1:{other.getsockname()[1]}"
        with (
            pytest.raises(LifecycleError, match=f"listen on {address}: Address already in use"),
            http_endpoint(address, {}),
        ):
            pass


def test_without_an_address_nothing_listens() -> None:
    with http_endpoint("", {}):
        pass
