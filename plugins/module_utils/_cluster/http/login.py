# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The settings of a connection: the API server's URL, the CAs to trust, and our identity."""

from __future__ import annotations

import base64
import sys
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ..._redaction import without_login
from ..cluster import Authorization
from ..errors import Unauthorized, Unconfigured

TOKEN_FILE_SECONDS = 60.0
"""How many seconds a token file's content is valid: the kubelet rotates projected tokens (KEP-1205)."""


@dataclass(frozen=True)
class Login:
    """The connection settings for one API server.

    Attributes:
        server: its URL, which may have a path, without a trailing slash.
        origin: the source of these settings, for messages, e.g. ``context prod of /home/me/.kube/config``.
        authorization: returns the Authorization header.
        verify: whether the server's certificate is verified.
        server_name: the name that the server's certificate must have, if it isn't the URL's host.
        ca_file, ca_data: the CAs to trust, as a path or as PEM; by default, those of the system.
        cert_file, cert_data: our certificate.
        key_file, key_data: its key.
        impersonate_user, impersonate_groups: the identity to impersonate.
        proxy: the URL of a proxy, or empty.
        no_proxy: hosts that bypass the proxy, separated by commas.
        proxy_headers: headers for the proxy.
    """

    server: str
    origin: str = ""
    authorization: Authorization = field(default=lambda _refused: "", repr=False)
    verify: bool = True
    server_name: str = ""
    ca_file: str = ""
    ca_data: str = field(default="", repr=False)
    cert_file: str = ""
    cert_data: str = field(default="", repr=False)
    key_file: str = ""
    key_data: str = field(default="", repr=False)
    impersonate_user: str = ""
    impersonate_groups: tuple[str, ...] = ()
    proxy: str = ""
    no_proxy: str = ""
    proxy_headers: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def shown(self) -> str:
        """The server for people: its URL may have a login."""
        return shown_address(self.server)


def shown_address(address: str) -> str:
    """A URL without its login, for people. A scheme may have been forgotten."""
    return without_login(address) if "://" in address else address.rpartition("@")[2]


def missing_library(name: str) -> Unconfigured:
    """The error if a library is missing that this collection requires."""
    return Unconfigured(
        f"the Python library {name} is missing in {sys.executable}: {sys.executable} -m pip install {name}"
    )


def login_not_accepted(login: Login, action: str) -> Unauthorized:
    """The error if a server does not accept a login.

    Args:
        login: the rejected one.
        action: the operation and its object.
    """
    place = f" ({login.origin})" if login.origin else ""
    message = (
        f"{login.shown} does not accept the login{place}. Its token, password or certificate is wrong or has"
        " expired: log in again, or correct it there"
    )
    return Unauthorized(action, status=401, reason="Unauthorized", api_message=message)


def bearer(token: str) -> Authorization:
    """A token that never changes."""
    return lambda _refused: f"Bearer {token}"


def basic(username: str, password: str) -> Authorization:
    """HTTP basic authentication, which API servers behind some proxies still accept."""
    credentials = base64.b64encode(f"{username}:{password}".encode()).decode()
    return lambda _refused: f"Basic {credentials}"


def bearer_from_file(path: str) -> Authorization:
    """A token in a file that another process rotates.

    Raises:
        Unconfigured: the file can't be read, or is empty.
    """
    lock = threading.Lock()
    read_at = 0.0
    token = ""

    def authorization(refused: str) -> str:
        nonlocal read_at, token
        with lock:
            old = time.monotonic() - read_at > TOKEN_FILE_SECONDS
            if old or not token or refused == f"Bearer {token}":
                try:
                    token = Path(path).read_text(encoding="utf-8").strip()
                except (OSError, UnicodeDecodeError) as error:
                    raise Unconfigured(f"the token file {path} can't be read: {error}") from error
                if not token:
                    raise Unconfigured(f"the token file {path} is empty")
                read_at = time.monotonic()
            return f"Bearer {token}"

    return authorization
