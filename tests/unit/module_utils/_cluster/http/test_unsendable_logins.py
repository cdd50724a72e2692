# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Credentials that no HTTP header can have are trimmed, or refused by their source, without their value."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import Unconfigured
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http import connection
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.connection import (
    login_for,
    with_environment,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.endpoint import Endpoint

SERVER = "https://api.example.org:6443"
HALVES = ("secretone", "secrettwo")
UNSENDABLE = {
    "a line break": "\n",
    "a carriage return": "\r",
    "NUL": "\0",
    "an umlaut": "\u00e4",
    "the euro sign": "\u20ac",
    "half a character": "\ud800",
}
PRINTS = (
    "import json; print(json.dumps({'apiVersion': 'client.authentication.k8s.io/v1', 'status': {'token': "
)

Send = Callable[[str], str]


def kubeconfig(user: dict[str, Any], **cluster: Any) -> dict[str, Any]:
    return {
        "current-context": "prod",
        "contexts": [{"name": "prod", "context": {"cluster": "c", "user": "u"}}],
        "clusters": [{"name": "c", "cluster": {"server": SERVER, **cluster}}],
        "users": [{"name": "u", "user": user}],
    }


def header(**options: object) -> str:
    """The Authorization header of a login."""
    headers = Endpoint(login_for(with_environment(options))).identity()
    return dict(headers).get("Authorization", "")


@pytest.fixture
def senders(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> dict[str, Send]:
    """By the source that a message has to name: returns the header of a token from there."""
    monkeypatch.setattr(connection, "SERVICE_ACCOUNT_FOLDER", tmp_path / "no-pod")

    def of_file(token: str) -> str:
        path = tmp_path / "config"
        path.write_text(yaml.safe_dump(kubeconfig({"token": token})), encoding="utf-8")
        return header(kubeconfig=str(path))

    def of_environment(token: str) -> str:
        monkeypatch.setattr(connection.os, "environ", {"K8S_AUTH_API_KEY": token})
        return header(host=SERVER)

    def of_token_file(token: str) -> str:
        (tmp_path / "token").write_bytes(token.encode("utf-8", "surrogatepass"))
        return header(kubeconfig=kubeconfig({"tokenFile": str(tmp_path / "token")}))

    def of_program(token: str) -> str:
        code = f"{PRINTS}{token!a}}}}}))"
        (tmp_path / "plugin.py").write_text(code)
        program = {
            "apiVersion": "client.authentication.k8s.io/v1",
            "command": sys.executable,
            "args": [str(tmp_path / "plugin.py")],
        }
        return header(kubeconfig=kubeconfig({"exec": program}))

    def of_provider(token: str) -> str:
        class Settings:
            def auth_settings(self) -> dict[str, Any]:
                return {"BearerToken": {"value": f"Bearer {token}"}}

        monkeypatch.setattr("kubernetes.client.Configuration", Settings)
        monkeypatch.setattr(
            "kubernetes.config.kube_config.load_kube_config_from_dict", lambda *_a, **_k: None
        )
        return header(kubeconfig=kubeconfig({"auth-provider": {"name": "oidc"}}))

    return {
        f"context prod of {tmp_path}/config: the token": of_file,
        "the option api_key": lambda token: header(host=SERVER, api_key=token),
        "K8S_AUTH_API_KEY": of_environment,
        f"{tmp_path}/token": of_token_file,
        f"context prod of the given kubeconfig: the credential plugin {sys.executable}": of_program,
        "context prod of the given kubeconfig: the auth-provider oidc": of_provider,
    }


SOURCES = range(6)


def sender(senders: dict[str, Send], number: int) -> tuple[str, Send]:
    return [*senders.items()][number]


@pytest.mark.parametrize("number", SOURCES)
@pytest.mark.parametrize("space", ["\n", "\r\n", " \t\n\n"])
def test_white_space_around_a_token_is_no_part_of_it(
    senders: dict[str, Send], number: int, space: str
) -> None:
    _source, send = sender(senders, number)
    assert send(f"{space}{HALVES[0]}{space}") == f"Bearer {HALVES[0]}"


@pytest.mark.parametrize("number", SOURCES)
@pytest.mark.parametrize("name", UNSENDABLE)
def test_a_token_that_no_header_can_have_is_refused_without_its_value(
    senders: dict[str, Send], number: int, name: str
) -> None:
    source, send = sender(senders, number)
    with pytest.raises(Unconfigured) as refused:
        send(UNSENDABLE[name].join(HALVES))
    shown = f"{refused.value!s} {refused.value!r}"
    assert source in str(refused.value)
    assert [half for half in HALVES if half in shown] == []
    assert UNSENDABLE[name] not in str(refused.value)


@pytest.mark.parametrize("name", UNSENDABLE)
def test_an_impersonated_user_that_no_header_can_have_is_refused_by_the_option(name: str) -> None:
    for option, value in (("impersonate_user", "jane"), ("impersonate_groups", ["a", "jane"])):
        bad = f"jane{UNSENDABLE[name]}x"
        with pytest.raises(Unconfigured, match=option):
            header(host=SERVER, api_key="t", **{option: bad if isinstance(value, str) else ["a", bad]})


def test_an_impersonated_user_of_a_kubeconfig_is_refused_by_its_context() -> None:
    with pytest.raises(Unconfigured, match=r"context prod of the given kubeconfig"):
        header(kubeconfig=kubeconfig({"token": "t", "as": "jane\nx"}))


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("proxy_basic_auth", f"{HALVES[0]}\u20ac:{HALVES[1]}"),
        ("basic_auth", f"{HALVES[0]}:{HALVES[1]}\ud800"),
        ("user_agent", f"{HALVES[0]}\n{HALVES[1]}"),
    ],
)
def test_a_header_for_a_proxy_is_refused_by_its_option(option: str, value: str) -> None:
    with pytest.raises(Unconfigured, match=f"proxy_headers.{option}") as refused:
        header(host=SERVER, api_key="t", proxy="http://p:1", proxy_headers={option: value})
    assert [half for half in HALVES if half in str(refused.value)] == []


def test_a_password_that_is_no_text_is_refused_by_its_source() -> None:
    for options in (
        {"host": SERVER, "username": "u", "password": f"{HALVES[0]}\ud800"},
        {"kubeconfig": kubeconfig({"username": "u", "password": f"{HALVES[0]}\ud800"})},
    ):
        with pytest.raises(Unconfigured, match=r"password") as refused:
            header(**options)
        assert HALVES[0] not in repr(refused.value)


def test_a_password_may_have_any_character() -> None:
    assert header(host=SERVER, username="u", password="p\u00e4\nss") == "Basic dTpww6QKc3M="


@pytest.mark.parametrize(
    "proxy",
    ["http://user:secret/one@proxy:1", "http://user:pass@proxy:secretone", "http://user:se#cretone@p:1"],
)
def test_a_url_of_a_proxy_is_refused_without_its_login(proxy: str) -> None:
    login = login_for(with_environment({"host": SERVER, "api_key": "t", "proxy": proxy}))
    with pytest.raises(Unconfigured, match="is no URL of a proxy") as refused:
        Endpoint(login).pool()
    assert not any(word in repr(refused.value) for word in ("secret", "cretone", "user", "pass@"))


@pytest.mark.parametrize("data", ["k\u00e9y\nsecretone", "\ud800secretone", "secret\0one"])
def test_a_key_that_is_no_pem_is_refused_without_its_content(tmp_path: Path, data: str) -> None:
    status = json.dumps({"clientCertificateData": "CERT", "clientKeyData": data})
    (tmp_path / "plugin.py").write_text(
        f"print({json.dumps({'apiVersion': 'client.authentication.k8s.io/v1'})[:-1]!r}"
        f" + ', \"status\": ' + {status!r} + '}}')"
    )
    program = {
        "apiVersion": "client.authentication.k8s.io/v1",
        "command": sys.executable,
        "args": [str(tmp_path / "plugin.py")],
    }
    login = login_for(with_environment({"kubeconfig": kubeconfig({"exec": program})}))
    with pytest.raises(Unconfigured, match="the client certificate of context prod") as refused:
        Endpoint(login).pool()
    assert not any(word in str(refused.value) for word in ("secret", "\u00e9", "xe9", "d800"))
