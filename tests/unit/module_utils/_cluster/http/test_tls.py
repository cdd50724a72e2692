# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What connections have in common, whoever makes them at the same time."""

from __future__ import annotations

import socket
import ssl
from contextlib import suppress

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.login import Login
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.tls import tls_context
from urllib3.util.ssl_ import ALPN_PROTOCOLS, ssl_wrap_socket


def connect(context: ssl.SSLContext) -> None:
    """Make a connection ready, as urllib3 does it."""
    with socket.socket() as sock:
        ssl_wrap_socket(sock, ssl_context=context, server_hostname="api.example.org").close()


def test_no_connection_changes_what_another_thread_may_be_copying(monkeypatch: pytest.MonkeyPatch) -> None:
    changes: list[list[str]] = []
    change = ssl.SSLContext.set_alpn_protocols

    def counted(context: ssl.SSLContext, protocols: list[str]) -> None:
        changes.append(protocols)
        change(context, protocols)

    monkeypatch.setattr(ssl.SSLContext, "set_alpn_protocols", counted)
    context = tls_context(Login(server="https://api.example.org", verify=False))
    for _connection in range(3):
        connect(context)
    assert changes == [ALPN_PROTOCOLS]


def test_a_connection_says_which_protocol_it_speaks() -> None:
    context = tls_context(Login(server="https://api.example.org", verify=False))
    connect(context)
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    with suppress(ssl.SSLWantReadError):
        context.wrap_bio(incoming, outgoing, server_hostname="api.example.org").do_handshake()
    assert b"\x08http/1.1" in outgoing.read()
