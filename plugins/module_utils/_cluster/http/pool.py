# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The pool of connections to one API server."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from ..errors import Unconfigured
from .login import Login, missing_library, shown_address
from .tls import tls_context

if TYPE_CHECKING:
    import urllib3

CONNECTIONS = 32
KEEPALIVE = {"TCP_KEEPIDLE": 30, "TCP_KEEPINTVL": 10, "TCP_KEEPCNT": 3}
"""Idle seconds before the first probe, seconds between probes, and the number of probes (TCP keepalive)."""


def open_pool(login: Login) -> urllib3.PoolManager:
    """The pool of connections for a login.

    Raises:
        Unconfigured: a certificate or a key can't be used, or the HTTP library is missing.
    """
    try:
        import urllib3
    except ImportError as error:
        raise missing_library("urllib3") from error
    options: dict[str, Any] = {
        "num_pools": 2,
        "maxsize": CONNECTIONS,
        "socket_options": [(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1), *keepalive_options()],
    }
    if login.server.startswith("https:"):
        options["ssl_context"] = tls_context(login)
        if login.server_name:
            options["server_hostname"] = login.server_name
            options["assert_hostname"] = login.server_name
        if not login.verify:
            # The user has disabled verification, and needs no warning for every request.
            urllib3.disable_warnings(urllib3.exceptions.InsecureRequestWarning)
            options["cert_reqs"] = "CERT_NONE"
            options["assert_hostname"] = False
    if login.proxy and not bypasses_proxy(login.server, login.no_proxy):
        return _pool_of_proxy(login, options)
    return urllib3.PoolManager(**options)


def _pool_of_proxy(login: Login, options: Mapping[str, Any]) -> urllib3.PoolManager:
    import urllib3

    try:
        if not login.proxy.startswith("socks"):
            return urllib3.ProxyManager(login.proxy, proxy_headers=dict(login.proxy_headers), **options)
        from urllib3.contrib.socks import SOCKSProxyManager
    except ImportError as error:
        raise missing_library("PySocks") from error
    except (urllib3.exceptions.HTTPError, ValueError) as error:
        raise Unconfigured(
            f"the proxy {shown_address(login.proxy)!r} is no URL of a proxy. Write it as in"
            " http://proxy.example.com:3128"
        ) from error
    return SOCKSProxyManager(login.proxy, **options)


def keepalive_options() -> list[tuple[int, int, int]]:
    """Socket options with which the system probes a silent connection, and closes it if the server is gone.

    A watch may be silent for minutes, and a firewall drops silent connections. Without the
    intervals the system sends the first probe after two hours.
    """
    options = [(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)]
    # Not every system has these options.
    for name, value in KEEPALIVE.items():
        if hasattr(socket, name):
            options.append((socket.IPPROTO_TCP, getattr(socket, name), value))
    return options


def bypasses_proxy(server: str, no_proxy: str) -> bool:
    """Whether a server's host is in a comma-separated list of hosts, domains, addresses and networks."""
    host = (urlsplit(server).hostname or "").lower()
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        address = None
    for entry in (part.strip().lower() for part in no_proxy.split(",")):
        domain = entry.removeprefix("*").lstrip(".")
        if entry == "*" or (domain and (host == domain or host.endswith("." + domain))):
            return True
        if address is not None:
            try:
                if address in ipaddress.ip_network(entry, strict=False):
                    return True
            except ValueError:
                continue
    return False


def is_loopback(server: str) -> bool:
    """Whether a URL's host is this machine, as far as is known without resolving names."""
    host = urlsplit(server).hostname or ""
    return host in ("localhost", "::1") or host.startswith("127.")
