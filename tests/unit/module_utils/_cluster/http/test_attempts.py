# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What ends the attempts of a request at once, because another attempt can't succeed."""

from __future__ import annotations

import ssl
from types import SimpleNamespace
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import (
    Unauthorized,
    Unconfigured,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.login import Login
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.transport import Transport
from urllib3.exceptions import SSLError


def scripted(monkeypatch: pytest.MonkeyPatch, login: Login, *outcomes: Any) -> tuple[Transport, list[str]]:
    """A transport whose pool answers from a script, and the Authorization of each request."""
    transport = Transport(login, sleep=lambda seconds: pytest.fail(f"it waits {seconds} s"))
    script, sent = list(outcomes), list[str]()

    def request(*_place: str, headers: Any, **_how: Any) -> Any:
        sent.append(headers.get("Authorization", ""))
        outcome = script.pop(0)
        if isinstance(outcome, Exception):
            raise outcome
        return SimpleNamespace(status=outcome, headers={}, data=b"{}")

    monkeypatch.setattr(transport, "pool", lambda: SimpleNamespace(request=request))
    return transport, sent


def test_an_untrusted_certificate_is_final(monkeypatch: pytest.MonkeyPatch) -> None:
    error = SSLError(ssl.SSLCertVerificationError("certificate verify failed"))
    transport, _sent = scripted(monkeypatch, Login("https://api.test"), error)
    with pytest.raises(Unconfigured, match=r"no trusted connection to https://api\.test: .*ca_cert"):
        transport.request("get", "GET", "/version")


def test_a_new_token_is_tried_once(monkeypatch: pytest.MonkeyPatch) -> None:
    login = Login("https://api.test", authorization=lambda refused: f"{refused}x")
    transport, sent = scripted(monkeypatch, login, 401, 401)
    with pytest.raises(Unauthorized, match="does not accept the login"):
        transport.request("get", "GET", "/version")
    assert sent == ["x", "xx"]


def test_the_same_token_is_not_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    login = Login("https://api.test", authorization=lambda _refused: "old")
    transport, sent = scripted(monkeypatch, login, 401)
    with pytest.raises(Unauthorized, match="does not accept the login"):
        transport.request("get", "GET", "/version")
    assert sent == ["old"]
