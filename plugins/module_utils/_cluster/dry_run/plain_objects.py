# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects so plain that their validity can be seen without a server: pure.

Two fifths of what a release brings are so, and a dry run of each costs the server some milliseconds.
The rules are narrower than the server's (Kubernetes 1.36, ``pkg/apis/core/validation``): whatever is not
surely valid is left for it to judge.
"""

from __future__ import annotations

import binascii
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..cluster import Object

LONGEST_NAME = 253
LONGEST_PART = 63
LONGEST_NAMED_PORT = 15
MOST_ANNOTATIONS = 256 * 1024
MOST_DATA = 512 * 1024
"""Half of what the server allows, as a Secret may have two sorts of it."""

SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
"""A DNS subdomain (RFC 1123)."""
NAME_PART = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?")
DATA_KEY = re.compile(r"[A-Za-z0-9_-][-._A-Za-z0-9]*")
SERVICE_NAME = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?")
"""A DNS label (RFC 1035), which is more than a port's name must be."""
NAMED_PORT = re.compile(r"(?!.*--)[a-z]([-a-z0-9]*[a-z0-9])?")
"""The name of a container's port (RFC 6335), of those that begin with a letter."""
OWN_ANNOTATION = re.compile(r"(.*\.)?(kubernetes|k8s)\.io/.*")
"""Kubernetes' own annotations, which some kinds allow only with certain fields."""

IDENTITY = frozenset({"apiVersion", "kind", "metadata"})
METADATA = frozenset({"name", "namespace", "labels", "annotations"})
SERVICE = frozenset({"type", "clusterIP", "selector", "ports", "publishNotReadyAddresses", "sessionAffinity"})
PORT = frozenset({"name", "port", "targetPort", "protocol", "appProtocol"})
PROTOCOLS = ("TCP", "UDP", "SCTP")


def is_surely_valid(obj: Object) -> bool:
    """Whether any API server finds nothing wrong with this object, wherever it is created.

    Args:
        obj: complete, with its namespace.
    """
    payload = PLAIN.get((obj["apiVersion"], obj["kind"]))
    return payload is not None and _is_plain_metadata(obj["metadata"]) and payload(obj)


def _is_config_map(obj: Object) -> bool:
    return obj.keys() <= IDENTITY | {"data"} and _is_data(obj.get("data", {}))


def _is_secret(obj: Object) -> bool:
    # Those of other types have keys that must be there.
    plain = obj.keys() <= IDENTITY | {"data", "stringData", "type"} and obj.get("type", "Opaque") == "Opaque"
    data, texts = obj.get("data", {}), obj.get("stringData", {})
    return plain and _is_data(data) and all(map(_is_base64, data.values())) and _is_data(texts)


def _is_service_account(obj: Object) -> bool:
    mounts = obj.get("automountServiceAccountToken", True)
    return obj.keys() <= IDENTITY | {"automountServiceAccountToken"} and isinstance(mounts, bool)


def _is_service(obj: Object) -> bool:
    spec, meta = obj.get("spec"), obj["metadata"]
    if not isinstance(spec, dict) or obj.keys() != IDENTITY | {"spec"} or not spec.keys() <= SERVICE:
        return False
    ports = spec.get("ports")
    return (
        _matches(SERVICE_NAME, meta["name"], LONGEST_PART)
        and not any(map(OWN_ANNOTATION.fullmatch, meta.get("annotations", {})))
        and spec.get("type", "ClusterIP") == "ClusterIP"
        and spec.get("clusterIP", "None") == "None"
        and spec.get("sessionAffinity", "None") == "None"
        and isinstance(spec.get("publishNotReadyAddresses", False), bool)
        and _are_labels(spec.get("selector", {}))
        and isinstance(ports, list)
        and all(map(_is_port, ports))
        and _are_distinct(ports)
    )


def _is_port(port: Any) -> bool:
    if not isinstance(port, dict) or not port.keys() <= PORT or "port" not in port:
        return False
    target = port.get("targetPort", port["port"])
    return (
        _is_port_number(port["port"])
        and (_is_port_number(target) or _matches(NAMED_PORT, target, LONGEST_NAMED_PORT))
        and ("name" not in port or _matches(SERVICE_NAME, port["name"], LONGEST_PART))
        and port.get("protocol", "TCP") in PROTOCOLS
        and _is_qualified(port.get("appProtocol", "http"))
    )


def _is_port_number(number: Any) -> bool:
    return isinstance(number, int) and not isinstance(number, bool) and 1 <= number <= 65535


def _are_distinct(ports: Sequence[Mapping[str, Any]]) -> bool:
    """Whether each of a Service's ports, of which it has some, has a name and a number of its own."""
    if len(ports) == 1:
        return True
    names = {port.get("name") for port in ports}
    numbers = {(port.get("protocol", "TCP"), port["port"]) for port in ports}
    return None not in names and 0 < len(ports) == len(names) == len(numbers)


PLAIN: Mapping[tuple[str, str], Callable[[Object], bool]] = {
    ("v1", "ConfigMap"): _is_config_map,
    ("v1", "Secret"): _is_secret,
    ("v1", "Service"): _is_service,
    ("v1", "ServiceAccount"): _is_service_account,
}


def _is_plain_metadata(meta: Mapping[str, Any]) -> bool:
    labels, annotations = meta.get("labels", {}), meta.get("annotations", {})
    return (
        meta.keys() <= METADATA
        and _matches(SUBDOMAIN, meta.get("name"), LONGEST_NAME)
        and _are_labels(labels)
        and _is_text(annotations)
        and all(map(_is_qualified, annotations))
        and _size(annotations) <= MOST_ANNOTATIONS
    )


def _are_labels(labels: Any) -> bool:
    return (
        _is_text(labels)
        and all(map(_is_qualified, labels))
        and all(value == "" or _matches(NAME_PART, value, LONGEST_PART) for value in labels.values())
    )


def _is_data(data: Any) -> bool:
    return (
        _is_text(data)
        and all(_matches(DATA_KEY, key, LONGEST_NAME) for key in data)
        and _size(data) <= MOST_DATA
    )


def _is_base64(text: str) -> bool:
    try:
        binascii.a2b_base64(text, strict_mode=True)
    except ValueError:
        return False
    return True


def _is_text(values: Any) -> bool:
    return isinstance(values, dict) and all(
        isinstance(key, str) and isinstance(value, str) for key, value in values.items()
    )


def _is_qualified(key: Any) -> bool:
    """Whether this is a qualified name: a part, or a DNS subdomain, a slash and a part."""
    if not isinstance(key, str):
        return False
    prefix, slash, part = key.rpartition("/")
    return _matches(NAME_PART, part, LONGEST_PART) and (
        not slash or _matches(SUBDOMAIN, prefix, LONGEST_NAME)
    )


def _matches(pattern: re.Pattern[str], text: Any, longest: int) -> bool:
    return isinstance(text, str) and len(text) <= longest and pattern.fullmatch(text) is not None


def _size(values: Mapping[str, str]) -> int:
    """How many bytes the names and values take."""
    return sum(len(key.encode()) + len(value.encode()) for key, value in values.items())
