# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A certificate authority for test clusters, with a library that ansible-core requires anyway."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

LIFETIME = timedelta(days=365)
CLOCK_SKEW = timedelta(minutes=5)
CLIENT, SERVER = ExtendedKeyUsageOID.CLIENT_AUTH, ExtendedKeyUsageOID.SERVER_AUTH


@dataclass(frozen=True)
class Issued:
    """A certificate with its private key, both as PEM.

    Attributes:
        certificate: readable for all.
        key: for its owner.
    """

    certificate: str
    key: str


class Authority:
    """Signs certificates.

    Args:
        name: its common name.
    """

    def __init__(self, name: str) -> None:
        self._key = new_key()
        self._name = _name_of(name)
        # Python from 3.13 on refuses an authority without keyUsage.
        usage = _key_usage(signs=True)
        constraints = x509.BasicConstraints(ca=True, path_length=None)
        self._certificate = (
            _builder(self._name, self._name, self._key.public_key())
            .add_extension(usage, critical=True)
            .add_extension(constraints, critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(self._key.public_key()), critical=False)
            .sign(self._key, hashes.SHA256())
        )

    @property
    def own(self) -> Issued:
        """The authority's own certificate and key."""
        return _issued(self._certificate, self._key)

    def issue(
        self,
        name: str,
        usages: Sequence[x509.ObjectIdentifier] = (CLIENT,),
        *,
        organisation: str = "",
        hosts: Sequence[str] = (),
        addresses: Sequence[str] = (),
    ) -> Issued:
        """Issue a certificate with a new key.

        Args:
            name: the common name, which is the user's for the API server.
            usages: whether it is for clients, servers or both.
            organisation: the user's group.
            hosts: names under which a server is reached.
            addresses: IP addresses under which it is reached.
        """
        key = new_key()
        identifier = x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key())
        builder = (
            _builder(_name_of(name, organisation), self._name, key.public_key())
            .add_extension(_key_usage(signs=False), critical=True)
            .add_extension(x509.ExtendedKeyUsage(usages), critical=False)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(identifier, critical=False)
        )
        others: list[x509.GeneralName] = [
            *(x509.DNSName(host) for host in hosts),
            *(x509.IPAddress(ip_address(address)) for address in addresses),
        ]
        if others:
            builder = builder.add_extension(x509.SubjectAlternativeName(others), critical=False)
        return _issued(builder.sign(self._key, hashes.SHA256()), key)


def new_key() -> ec.EllipticCurvePrivateKey:
    """A new private key."""
    return ec.generate_private_key(ec.SECP256R1())


def private_pem(key: ec.EllipticCurvePrivateKey) -> str:
    """A private key as PEM."""
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.TraditionalOpenSSL,
        serialization.NoEncryption(),
    ).decode("ascii")


def public_pem(key: ec.EllipticCurvePrivateKey) -> str:
    """The public half of a key as PEM."""
    return (
        key.public_key()
        .public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
        .decode("ascii")
    )


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey
) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - CLOCK_SKEW)
        .not_valid_after(now + LIFETIME)
    )


def _name_of(name: str, organisation: str = "") -> x509.Name:
    group = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, organisation)] if organisation else []
    return x509.Name([*group, x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _key_usage(*, signs: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        key_encipherment=True,
        key_cert_sign=signs,
        content_commitment=False,
        data_encipherment=False,
        key_agreement=False,
        crl_sign=False,
        encipher_only=False,
        decipher_only=False,
    )


def _issued(certificate: x509.Certificate, key: ec.EllipticCurvePrivateKey) -> Issued:
    return Issued(certificate.public_bytes(serialization.Encoding.PEM).decode("ascii"), private_pem(key))
