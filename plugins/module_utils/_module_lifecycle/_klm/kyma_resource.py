# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Kyma's lifecycle manager (KLM) in a cluster: the modules that its Kyma resource names, and its marks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import NamedTuple

from ..._cluster.cluster import Cluster, Object, Ref
from ..._cluster.errors import Forbidden
from ..._errors import LifecycleError
from ..._objects.ownership.policy import Policy
from ..catalog.catalog import SourcedDocument
from ..catalog.documents import GROUP, read_document
from .klm_rights import KYMA, KYMAS, klm_rights

KLM_LABEL = (f"{GROUP}/managed-by", "kyma")
"""A label of KLM on the templates of its catalog, and on the objects of modules until it lets them go."""
KLM_APPLIER = "declarative.kyma-project.io/applier"
"""The field manager of KLM. It stays on objects that KLM has let go."""


class KlmModules(NamedTuple):
    """The modules of KLM.

    Attributes:
        named: those that the Kyma resource names, each with the field.
        offered: those that have a template of KLM in the cluster.
    """

    named: Mapping[str, str]
    offered: frozenset[str] = frozenset()


def read_klm_modules(cluster: Cluster) -> Mapping[str, str]:
    """The modules that the Kyma resource names, each with the field; none if its kind is not served.

    Every user may read discovery, so a cluster without KLM needs no right for this.

    Raises:
        LifecycleError: the kind is served, and the resource can't be read.
    """
    served = cluster.served(KYMA.group, KYMA.kind)
    if not served:
        return {}
    try:
        return named_modules(cluster.get(*KYMA.in_version(served[0].api_version)))
    except Forbidden as error:
        from ..._objects.access.review import describe_missing_rights, missing_rights

        missing = missing_rights(cluster, klm_rights())
        reason = describe_missing_rights(cluster, missing, "module")[0] if missing else str(error)
        raise LifecycleError(
            f"the {_KYMA} can't be read, so it is unknown which modules Kyma's lifecycle manager manages, and"
            f" nothing is done: {reason}"
        ) from error


def named_modules(kyma: Object | None) -> Mapping[str, str]:
    """The modules that a Kyma resource names, each with the field."""
    return {
        entry["name"]: f"{field}.modules"
        for field in ("status", "spec")
        for entry in ((kyma or {}).get(field) or {}).get("modules") or ()
    }


def has_klm_label(obj: Object) -> bool:
    """Whether an object has the label of KLM."""
    label, value = KLM_LABEL
    return (obj["metadata"].get("labels") or {}).get(label) == value


def modules_of(documents: Iterable[SourcedDocument]) -> frozenset[str]:
    """The modules that documents of a catalog are for."""
    return frozenset(read.module for read in map(read_document, documents) if read and read.module)


def taking_from_klm(policy: Policy) -> Policy:
    """The policy that also takes the fields of KLM's field manager: no module that KLM has is written."""
    return replace(policy, interactive_managers=(*policy.interactive_managers, KLM_APPLIER))


def explain_entry(name: str, field: str, *, is_ours: bool) -> str:
    """Why a module that the Kyma resource names is refused, and what to do.

    Args:
        name: of the module.
        field: that names it.
        is_ours: whether this collection manages it, too.
    """
    advice = " and set state: unmanaged for it here" if is_ours else ""
    return (
        f"{name} is managed by Kyma's lifecycle manager: the {_KYMA} names it in {field}. Change it"
        f" there{advice}. To manage it here, first {_LETTING_GO}"
    )


def explain_mark(name: str, marked: Ref) -> str:
    """Why a module is refused that has the label of KLM, and that the Kyma resource does not name."""
    return (
        f"{name} is managed by Kyma's lifecycle manager: {marked} has its label {': '.join(KLM_LABEL)}. If"
        " that manager has left the module behind, set takeover=true (kyma_takeover) once. Otherwise"
        f" {_LETTING_GO}"
    )


def explain_offer() -> str:
    """Where to install a module that only KLM's catalog has."""
    return f"Kyma's lifecycle manager offers it: add it to spec.modules of the {_KYMA}."


_KYMA = f"{KYMA.kind} resource {KYMA.namespace}/{KYMA.name}"
_LETTING_GO = (
    "set managed: false in its entry of spec.modules"
    f" (`kubectl edit {KYMAS}.{GROUP} {KYMA.name} -n {KYMA.namespace}`), wait until status.modules reports"
    " Unmanaged, and only then remove the entry. An entry that is removed earlier deletes the module, also"
    " with the policy Ignore"
)
