# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which servers a connection trusts, and what connections have in common that are made at the same time."""

from __future__ import annotations

import socket
import ssl
from contextlib import suppress
from pathlib import Path

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.connection import (
    connect as connect_to,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.login import Login
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.tls import tls_context
from ansible_collections.kyma.lifecycle.plugins.module_utils._errors import LifecycleError
from urllib3.util.ssl_ import ALPN_PROTOCOLS, ssl_wrap_socket

from tests.cluster.authority import SERVER, Authority
from tests.support.apiserver import Reply, serve


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


def server_context(folder: Path, authority: Authority, *addresses: str) -> ssl.SSLContext:
    """A server's certificate for some addresses."""
    issued = authority.issue("kube-apiserver", (SERVER,), addresses=addresses)
    (folder / "server.pem").write_text(issued.certificate + issued.key)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "server.pem")
    return context


def version_from(folder: Path, trusted: Authority, tls: ssl.SSLContext) -> tuple[str, int]:
    """What a server answers to one that trusts a CA, or the error; and how many requests the server got."""
    (folder / "ca.crt").write_text(trusted.own.certificate)
    with serve(lambda _request: Reply({"gitVersion": "v1.34.0"}), tls) as server:
        cluster = connect_to({"host": server.url, "api_key": "s3cret", "ca_cert": str(folder / "ca.crt")})
        try:
            return cluster.server_version(), len(server.seen)
        except LifecycleError as error:
            return str(error), len(server.seen)


@pytest.mark.parametrize(("address", "is_trusted"), [("127.0.0.1", True), ("127.0.0.2", False)])
def test_a_server_needs_a_certificate_for_its_address(tmp_path: Path, address: str, is_trusted: bool) -> None:
    authority = Authority("kubernetes")
    tls = server_context(tmp_path, authority, address)
    answer, requests = version_from(tmp_path, authority, tls)
    assert ("v1.34.0" in answer, requests) == (is_trusted, int(is_trusted)), answer


def test_a_server_with_a_certificate_of_another_ca_gets_no_request(tmp_path: Path) -> None:
    tls = server_context(tmp_path, Authority("kubernetes"), "127.0.0.1")
    answer, requests = version_from(tmp_path, Authority("kubernetes"), tls)
    assert "CERTIFICATE_VERIFY_FAILED" in answer
    assert requests == 0
