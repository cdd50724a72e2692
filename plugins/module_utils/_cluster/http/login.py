# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The settings of a connection: the API server's URL, the CAs to trust, and our identity."""

from __future__ import annotations

import base64
import re
import sys
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ..._redaction import remember_secret, without_login
from ..cluster import Authorization
from ..errors import Unauthorized, Unconfigured

UNSENDABLE = re.compile(r"[^\t\x20-\x7e]")
UNSENDABLE_IN_TOKEN = re.compile(r"[^\x21-\x7e]")
"""What a header's value must not have (RFC 9110), and a token neither."""
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
    origin = f" ({login.origin})" if login.origin else ""
    message = (
        f"{login.shown} does not accept the login{origin}. Its token, password or certificate is wrong or has"
        " expired: log in again, or correct it there"
    )
    return Unauthorized(action, status=401, reason="Unauthorized", api_message=message)


def require_sendable(value: str, source: str, *, with_spaces: bool = True) -> str:
    """A value, if a header can have it: Python's own error would quote it, although it may be secret.

    Args:
        value: of the header.
        source: its source, for the error.
        with_spaces: whether it may have spaces.

    Raises:
        Unconfigured: no header can have it.
    """
    bad = (UNSENDABLE if with_spaces else UNSENDABLE_IN_TOKEN).search(value)
    if bad is None:
        return value
    kind = {"\n": "a line break", "\r": "a line break", " ": "a space", "\t": "a tab"}.get(
        bad[0], "a control character" if bad[0].isascii() else "a character that is not ASCII"
    )
    raise Unconfigured(
        f"{source} has {kind}, which no HTTP header can have. Correct it there, or log in again"
    )


def require_encodable(value: str, encoding: str, source: str) -> None:
    """Raise Unconfigured if a value has a character that an encoding lacks; the error does not quote it."""
    try:
        value.encode(encoding)
    except UnicodeEncodeError:
        raise Unconfigured(
            f"{source} has a character that can't be sent, as {encoding} lacks it. Correct it there"
        ) from None


def bearer_header(token: str, source: str) -> str:
    """The Authorization header of a token, without white space around it.

    Args:
        token: as its source has it.
        source: its source, for errors.

    Raises:
        Unconfigured: no header can have it.
    """
    remember_secret(token)
    return f"Bearer {require_sendable(token.strip(), source, with_spaces=False)}"


def bearer(token: str, source: str) -> Authorization:
    """A token that never changes; the arguments and errors are those of :func:`bearer_header`."""
    header = bearer_header(token, source)
    return lambda _refused: header


def basic(username: str, password: str, source: str) -> Authorization:
    """HTTP basic authentication, which API servers behind some proxies still accept.

    Raises:
        Unconfigured: the password is no text.
    """
    remember_secret(password)
    require_encodable(username + password, "utf-8", source)
    credentials = base64.b64encode(f"{username}:{password}".encode()).decode()
    remember_secret(credentials)
    return lambda _refused: f"Basic {credentials}"


def bearer_from_file(path: str, origin: str) -> Authorization:
    """A token in a file that another process rotates.

    Args:
        path: of the file.
        origin: what names the file, for errors.

    Raises:
        Unconfigured: the file can't be read, is empty, or has no token.
    """
    source = f"{origin}: the token file {path}"
    lock = threading.Lock()
    read_at = 0.0
    header = ""

    def authorization(refused: str) -> str:
        nonlocal read_at, header
        with lock:
            old = time.monotonic() - read_at > TOKEN_FILE_SECONDS
            if old or not header or refused == header:
                try:
                    token = Path(path).read_text(encoding="utf-8")
                except OSError as error:
                    raise Unconfigured(f"{source} can't be read: {error}") from error
                except ValueError:
                    raise Unconfigured(f"{source} can't be read: it is no text in UTF-8") from None
                if not token.strip():
                    raise Unconfigured(f"{source} is empty")
                header = bearer_header(token, source)
                read_at = time.monotonic()
            return header

    return authorization
