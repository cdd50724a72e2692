# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The objects of Kubernetes' own kinds that use Secrets: pure. Custom resources are unknown here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from .._cluster.cluster import ref_of
from .._cluster.pod_templates import pod_template
from .._loose_json import mapping_of, mappings_in, text_of
from .pod_references import SECRET, pod_references

SecretUsers = Mapping[str, tuple[str, ...]]
"""Names of Secrets of one namespace, each with its users as messages name them, such as ``Pod shop/a``."""
MoreUsers = Callable[[], SecretUsers]
"""Reads users of other kinds, such as errands."""


class UserKind(NamedTuple):
    """A kind whose objects can use Secrets.

    Attributes:
        api_version, kind: of its objects.
        is_namespaced: whether these are in namespaces.
    """

    api_version: str
    kind: str
    is_namespaced: bool = True


USER_KINDS = (
    UserKind("v1", "Pod"),
    UserKind("apps/v1", "ReplicaSet"),
    UserKind("apps/v1", "Deployment"),
    UserKind("apps/v1", "StatefulSet"),
    UserKind("apps/v1", "DaemonSet"),
    UserKind("apps/v1", "ControllerRevision"),
    UserKind("batch/v1", "CronJob"),
    UserKind("batch/v1", "Job"),
    UserKind("networking.k8s.io/v1", "Ingress"),
    UserKind("v1", "ServiceAccount"),
    UserKind("v1", "ReplicationController"),
    UserKind("v1", "PodTemplate"),
    UserKind("v1", "PersistentVolume", is_namespaced=False),
    UserKind("storage.k8s.io/v1", "StorageClass", is_namespaced=False),
)
"""The kinds that are searched for users, in this order."""


def no_more_users() -> SecretUsers:
    """No users of other kinds."""
    return {}


def secret_users(objects: Iterable[Mapping[str, Any]], namespace: str) -> dict[str, tuple[str, ...]]:
    """The Secrets of a namespace that objects of the kinds above use, each with its users."""
    return users_by_secret((ref_of(obj), used_secrets(obj, namespace)) for obj in objects)


def users_by_secret(uses: Iterable[tuple[object, Iterable[str]]]) -> dict[str, tuple[str, ...]]:
    """The users of each Secret.

    Args:
        uses: pairs of a user and the names of the Secrets that it uses.
    """
    users: dict[str, tuple[str, ...]] = {}
    for user, names in uses:
        for name in sorted(set(names)):
            users[name] = (*users.get(name, ()), str(user))
    return users


def merged_users(first: SecretUsers, second: SecretUsers) -> dict[str, tuple[str, ...]]:
    """The users of both sources."""
    return {name: (*first.get(name, ()), *second.get(name, ())) for name in {*first, *second}}


def used_secrets(obj: Mapping[str, Any], namespace: str) -> set[str]:
    """The names of the Secrets of a namespace that an object of the kinds above uses."""
    names = _NAMES.get(text_of(obj.get("kind")))
    if names is not None:
        return {*names(obj, namespace)} - {""}
    template = pod_template(obj)
    # Only pods have them; in a template they are refused.
    debuggers = {"spec": {"containers": mapping_of(template.get("spec")).get("ephemeralContainers")}}
    references = (*pod_references(template), *pod_references(debuggers))
    return {one.name for one in references if one.kind == SECRET}


def _of_ingress(obj: Mapping[str, Any], namespace: str) -> Iterator[str]:
    for tls in mappings_in(mapping_of(obj.get("spec")).get("tls")):
        yield text_of(tls.get("secretName"))
    # Controllers have options such as nginx.ingress.kubernetes.io/auth-secret.
    for option, value in mapping_of(mapping_of(obj.get("metadata")).get("annotations")).items():
        secret_namespace, _slash, name = text_of(value).rpartition("/")
        if "secret" in option and secret_namespace in ("", namespace):
            yield name


def _of_service_account(obj: Mapping[str, Any], _namespace: str) -> Iterator[str]:
    for field in ("imagePullSecrets", "secrets"):
        for reference in mappings_in(obj.get(field)):
            yield text_of(reference.get("name"))


def _of_volume(obj: Mapping[str, Any], namespace: str) -> Iterator[str]:
    """The Secrets of a volume's driver. Without a namespace, they are in that of its claim."""
    spec = mapping_of(obj.get("spec"))
    claim = mapping_of(spec.get("claimRef")).get("namespace")
    for source in map(mapping_of, spec.values()):
        references = [
            (mapping_of(value).get("name"), mapping_of(value).get("namespace"))
            for field, value in source.items()
            if field.lower().endswith("secretref")
        ]
        references.append((source.get("secretName"), source.get("secretNamespace")))
        for name, secret_namespace in references:
            if (secret_namespace or claim or namespace) == namespace:
                yield text_of(name)


def _of_storage_class(obj: Mapping[str, Any], _namespace: str) -> Iterator[str]:
    # Drivers name the parameters as they like: which namespace is meant can't be known, so any counts.
    for parameter, value in mapping_of(obj.get("parameters")).items():
        if "secret" in parameter.lower() and not parameter.lower().endswith("namespace"):
            yield text_of(value)


_NAMES: Mapping[str, Callable[[Mapping[str, Any], str], Iterator[str]]] = {
    "Ingress": _of_ingress,
    "ServiceAccount": _of_service_account,
    "PersistentVolume": _of_volume,
    "StorageClass": _of_storage_class,
}
"""Kinds without a pod template."""
