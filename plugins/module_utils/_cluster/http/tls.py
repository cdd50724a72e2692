# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The CAs that a connection trusts, and our certificate: imported only if a server speaks TLS."""

from __future__ import annotations

import os
import ssl
import tempfile
import threading
from collections.abc import Iterable

from ..errors import Unconfigured
from .login import Login


class SharedContext(ssl.SSLContext):
    """A context for the connections of several threads.

    urllib3 sets a context's protocols again for each connection. OpenSSL then frees the previous list, even
    if another thread is copying it for its own connection. A few of many thousand connections then send a
    hello with bytes that no server understands.
    """

    _lock = threading.Lock()
    _protocols: list[str] | None = None

    def set_alpn_protocols(self, alpn_protocols: Iterable[str]) -> None:
        """Set the protocols (RFC 7301), unless the context already has them."""
        protocols = list(alpn_protocols)
        with self._lock:
            if protocols != self._protocols:
                super().set_alpn_protocols(protocols)
                self._protocols = protocols


def tls_context(login: Login) -> ssl.SSLContext:
    """The CAs that we trust, and our certificate.

    Raises:
        Unconfigured: a file can't be read, or is no certificate or key.
    """
    # Chain and host name are verified, but not with VERIFY_X509_STRICT, as Python's default context does
    # since 3.13: it refuses the CAs of many clusters for formal reasons, while kubectl accepts them.
    context = SharedContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    what = "the CA certificate " + (login.ca_file or "of " + login.origin)
    try:
        if not login.verify:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        elif login.ca_data or login.ca_file:
            context.load_verify_locations(cafile=login.ca_file or None, cadata=login.ca_data or None)
        else:
            context.load_default_certs()
        what = "the client certificate " + (login.cert_file or "of " + login.origin)
        if login.cert_data or login.cert_file:
            load_client_certificate(context, login)
    except (OSError, ValueError) as error:
        raise Unconfigured(f"{what} can't be used: {error}") from error
    return context


def load_client_certificate(context: ssl.SSLContext, login: Login) -> None:
    """Load our certificate; OpenSSL reads only files, so data is written to files for a moment."""
    with tempfile.TemporaryDirectory(prefix="kyma-lifecycle-") as folder:
        cert, key = login.cert_file, login.key_file
        if login.cert_data:
            cert = _private_file(folder, "cert", login.cert_data)
        if login.key_data:
            key = _private_file(folder, "key", login.key_data)
        context.load_cert_chain(cert, key or None)


def _private_file(folder: str, name: str, content: str) -> str:
    """The path of a new file that only its owner can read."""
    path = f"{folder}/{name}"
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        # OpenSSL refuses what is no PEM, and quotes nothing of it.
        file.write(content.encode("utf-8", "replace"))
    return path
