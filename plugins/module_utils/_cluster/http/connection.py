# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The connection options, the same as those of kubernetes.core, and the cluster that they name."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from ..._redaction import remember_secret, secrets_of
from ..cluster import FIELD_MANAGER
from ..errors import Unconfigured
from .client_login import client_login
from .endpoint import OnWarning
from .kubeconfig import (
    DEFAULT_PATH,
    expanded_path,
    needs_plugin,
    needs_provider,
    read_kubeconfig,
    resolve_context,
    secrets_in,
    static_login,
)
from .live_cluster import LiveCluster
from .login import Login, basic, bearer, bearer_from_file, require_encodable, require_sendable
from .transport import Transport

CONNECTION_SPEC: dict[str, dict[str, Any]] = {
    "kubeconfig": {"type": "raw"},
    "context": {},
    "host": {},
    "api_key": {"no_log": True},
    "username": {},
    "password": {"no_log": True},
    "validate_certs": {"type": "bool", "aliases": ["verify_ssl"]},
    "ca_cert": {"type": "path", "aliases": ["ssl_ca_cert"]},
    "client_cert": {"type": "path", "aliases": ["cert_file"]},
    "client_key": {"type": "path", "aliases": ["key_file"]},
    "proxy": {"type": "str"},
    "no_proxy": {"type": "str"},
    "proxy_headers": {
        "type": "dict",
        "options": {
            "proxy_basic_auth": {"type": "str", "no_log": True},
            "basic_auth": {"type": "str", "no_log": True},
            "user_agent": {"type": "str"},
        },
    },
    "persist_config": {"type": "bool"},
    "impersonate_user": {},
    "impersonate_groups": {"type": "list", "elements": "str"},
}
"""The options that name the cluster and our identity, for an argument spec.

:func:`connect` also reads each from the environment variable ``K8S_AUTH_<OPTION>``.
"""

SERVICE_ACCOUNT_FOLDER = Path("/var/run/secrets/kubernetes.io/serviceaccount")
FALSE_WORDS = ("0", "false", "no")


def connect(
    params: Mapping[str, Any], *, field_manager: str = FIELD_MANAGER, on_warning: OnWarning | None = None
) -> LiveCluster:
    """The cluster of the connection options; this sends no request.

    Args:
        params: validated options of :data:`CONNECTION_SPEC`; others are ignored.
        field_manager: the field manager of its writes.
        on_warning: receives the warnings of the API server.

    Raises:
        Unconfigured: the options, the environment and the kubeconfig name no usable connection.
    """
    login = login_for(with_environment(params))
    # A task of a run that has begun has already talked to this cluster.
    transport = Transport(login, on_warning=on_warning, patient=bool(params.get("run")))
    return LiveCluster(transport, field_manager=field_manager)


def with_environment(params: Mapping[str, Any]) -> dict[str, Any]:
    """The connection options, with unset ones from the environment, like kubernetes.core."""
    options: dict[str, Any] = {}
    for name, spec in CONNECTION_SPEC.items():
        value = params.get(name)
        if value is None and name == "proxy_headers":
            value = {
                key: text
                for key in spec["options"]
                if (text := os.environ.get(f"K8S_AUTH_PROXY_HEADERS_{key.upper()}"))
            }
        elif value is None:
            names = (name, *spec.get("aliases", ()))
            text = next((v for n in names if (v := os.environ.get(f"K8S_AUTH_{n.upper()}"))), None)
            value = text if text is None else from_text(text, spec.get("type", "str"))
        options[name] = value
    return options


def from_text(text: str, kind: str) -> object:
    """The value of an option from the text of an environment variable."""
    if kind == "bool":
        return text.lower() not in FALSE_WORDS
    if kind == "list":
        return [part for part in text.split(",") if part]
    return text


def login_for(options: Mapping[str, Any]) -> Login:
    """The login of the options, in the order of kubernetes.core.

    A host with credentials is enough. Next is a kubeconfig or a context that is named, next the service
    account of the pod that we run in, last the default kubeconfig. Options override what these contain.
    """
    host = str(options.get("host") or "").rstrip("/")
    if host and (
        options.get("api_key")
        or (options.get("username") and options.get("password"))
        or (options.get("client_cert") and options.get("client_key"))
    ):
        login = Login(server=host, origin="the option host")
    elif options.get("kubeconfig") or options.get("context"):
        login = kubeconfig_login(options)
    else:
        login = service_account_login(SERVICE_ACCOUNT_FOLDER) or kubeconfig_login(options)
    return with_options(login, options)


def kubeconfig_login(options: Mapping[str, Any]) -> Login:
    """The login of a kubeconfig's context."""
    source = options.get("kubeconfig")
    config = read_kubeconfig(source if isinstance(source, Mapping) else str(source or ""))
    choice = resolve_context(config, options.get("context"))
    for secret in secrets_in(choice.user.content):
        remember_secret(secret)
    if needs_provider(choice):
        return client_login(config, choice, persist=bool(options.get("persist_config")))
    if needs_plugin(choice):
        # Imported here, because most logins need no program.
        from .exec_credentials import plugin_login

        return plugin_login(choice)
    return static_login(choice)


def resolved_kubeconfig(options: Mapping[str, Any]) -> tuple[str, str]:
    """The kubeconfig and the context of options without a host, for kubectl. Empty values need no option.

    Raises:
        Unconfigured: there is no such kubeconfig or context.
    """
    given, context = str(options.get("kubeconfig") or ""), str(options.get("context") or "")
    if not given and not context and service_account_login(SERVICE_ACCOUNT_FOLDER):
        return "", ""
    config = read_kubeconfig(given)
    context = resolve_context(config, context).context
    default = (str(expanded_path(DEFAULT_PATH)),)
    is_default = config.paths == default and not os.environ.get("KUBECONFIG")
    return "" if is_default else os.pathsep.join(config.paths), context


def service_account_login(folder: Path) -> Login | None:
    """The login of the pod that we run in, or None outside a pod."""
    host, port = os.environ.get("KUBERNETES_SERVICE_HOST"), os.environ.get("KUBERNETES_SERVICE_PORT")
    token, ca = folder / "token", folder / "ca.crt"
    if not host or not port or not token.is_file() or not ca.is_file():
        return None
    return Login(
        server=f"https://[{host}]:{port}" if ":" in host else f"https://{host}:{port}",
        origin="the pod's service account",
        authorization=bearer_from_file(str(token), "the pod's service account"),
        ca_file=str(ca),
    )


def with_options(login: Login, options: Mapping[str, Any]) -> Login:
    """A login. Options that are set replace its values."""
    changes: dict[str, Any] = {}
    if options.get("host"):
        changes["server"] = str(options["host"]).rstrip("/")
    if options.get("api_key"):
        changes["authorization"] = bearer(options["api_key"], _of_option("api_key"))
        changes["origin"] = f"{login.origin}, with the token of the option api_key"
    elif options.get("username") and options.get("password"):
        source = f"{_of_option('username')}, or {_of_option('password')},"
        changes["authorization"] = basic(options["username"], options["password"], source)
        changes["origin"] = f"{login.origin}, with the option password"
    if options.get("validate_certs") is not None:
        changes["verify"] = bool(options["validate_certs"])
    if options.get("ca_cert"):
        changes.update(ca_file=existing(options["ca_cert"], "ca_cert"), ca_data="")
    if options.get("client_cert"):
        changes.update(cert_file=existing(options["client_cert"], "client_cert"), cert_data="")
    if options.get("client_key"):
        changes.update(key_file=existing(options["client_key"], "client_key"), key_data="")
    if options.get("impersonate_user"):
        changes["impersonate_user"] = options["impersonate_user"]
    if options.get("impersonate_groups"):
        changes["impersonate_groups"] = tuple(options["impersonate_groups"])
    login = dataclasses.replace(login, **changes)
    for secret in (login.key_data, *secrets_of(login.server)):
        remember_secret(secret)
    if not _is_server(login.server):
        raise Unconfigured(f"{login.origin}: {login.shown!r} is no URL of an API server")
    for option in ("impersonate_user", "impersonate_groups"):
        names, is_given = getattr(login, option), bool(options.get(option))
        source = _of_option(option) if is_given else f"{login.origin}: {option} of its user"
        for name in [names] if isinstance(names, str) else names:
            require_sendable(str(name), source)
    return with_proxy(login, options)


def _of_option(name: str) -> str:
    """An option as the source of a value, for messages."""
    return f"the option {name} (or the environment variable K8S_AUTH_{name.upper().replace('.', '_')})"


def _is_server(url: str) -> bool:
    """Whether a text is a URL of a server."""
    try:
        parts = urlsplit(url)
        # Reading the port checks it.
        return parts.scheme in ("https", "http") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def with_proxy(login: Login, options: Mapping[str, Any]) -> Login:
    """A login with its proxy: from the option, else the kubeconfig, else the environment."""
    proxy, no_proxy = options.get("proxy") or login.proxy, options.get("no_proxy")
    if any(name.lower().endswith("_proxy") for name in os.environ):
        from urllib.request import getproxies

        proxies = getproxies()
        proxy = proxy or proxies.get(login.server.partition(":")[0]) or proxies.get("all")
        no_proxy = no_proxy or proxies.get("no")
    headers: dict[str, str] = {}
    if proxy and any((options.get("proxy_headers") or {}).values()):
        from urllib3.util import make_headers

        for name, value in options["proxy_headers"].items():
            remember_secret(value or "")
            if name == "user_agent":
                require_sendable(value or "", _of_option(f"proxy_headers.{name}"))
            else:
                require_encodable(value or "", "latin-1", _of_option(f"proxy_headers.{name}"))
        headers = make_headers(**options["proxy_headers"])
    for secret in secrets_of(str(proxy or "")):
        remember_secret(secret)
    return dataclasses.replace(
        login, proxy=str(proxy or ""), no_proxy=str(no_proxy or ""), proxy_headers=headers
    )


def existing(path: str, option: str) -> str:
    """A path that an option names, if the file exists."""
    whole = expanded_path(path)
    if not whole.is_file():
        raise Unconfigured(f"the file {whole} of the option {option} is not there")
    return str(whole)
