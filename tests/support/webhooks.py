# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Webhooks that convert or mutate objects, in a thread of the tests: what an operator serves otherwise."""

from __future__ import annotations

import base64
import ipaddress
import json
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

Object = dict[str, Any]
Convert = Callable[[Object, str], Object]
"""Makes the object of another version of an object."""


Respond = Callable[[Object], Object]
"""Makes the response to the request of a review, without its uid."""


@contextmanager
def converting(folder: Path, convert: Convert) -> Iterator[Object]:
    """Convert for as long as this lasts; hands out the ``conversion`` of a definition's ``spec``."""

    def respond(request: Object) -> Object:
        version = request["desiredAPIVersion"]
        converted = [convert(obj, version) for obj in request["objects"]]
        return {"result": {"status": "Success"}, "convertedObjects": converted}

    with _serving(folder, respond) as client:
        yield {
            "strategy": "Webhook",
            "webhook": {"conversionReviewVersions": ["v1"], "clientConfig": client},
        }


@contextmanager
def mutating(folder: Path, patch_of: Callable[[Object], list[Object]]) -> Iterator[Object]:
    """Mutate for as long as this lasts; hands out the ``clientConfig`` of a webhook.

    Args:
        folder: for its certificate.
        patch_of: makes the JSON patch of an object.
    """

    def respond(request: Object) -> Object:
        patch = json.dumps(patch_of(request["object"])).encode()
        return {"allowed": True, "patchType": "JSONPatch", "patch": base64.b64encode(patch).decode()}

    with _serving(folder, respond) as client:
        yield client


@contextmanager
def _serving(folder: Path, respond: Respond) -> Iterator[Object]:
    """Answer reviews for as long as this lasts; hands out the configuration of their client."""
    certificate, key = _certificate(folder)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(respond))
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield {
            "url": f"https://127.0.0.1:{server.server_port}/review",
            "caBundle": base64.b64encode(certificate.read_bytes()).decode(),
        }
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _handler(respond: Respond) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            review = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            request = review["request"]
            response = {"uid": request["uid"], **respond(request)}
            answer = {"apiVersion": review["apiVersion"], "kind": review["kind"], "response": response}
            body = json.dumps(answer).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *arguments: Any) -> None:
            """Say nothing."""

    return Handler


def _certificate(folder: Path) -> tuple[Path, Path]:
    """The files of a certificate for this machine, signed by itself, and of its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "a webhook")])
    address = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([address]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    paths = folder / "webhook.crt", folder / "webhook.key"
    paths[0].write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    paths[1].write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return paths
