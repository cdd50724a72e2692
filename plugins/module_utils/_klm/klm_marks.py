# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The marks of Kyma's lifecycle manager (KLM) on the templates of its catalog and on its objects."""

from __future__ import annotations

from dataclasses import replace

from .._cluster.cluster import Object, Ref
from .._module_catalog.documents import GROUP
from .._objects.ownership.policy import Policy

KLM_LABEL = (f"{GROUP}/managed-by", "kyma")
"""A label of KLM on the templates of its catalog, and on the objects of modules until it lets them go."""
KLM_APPLIER = "declarative.kyma-project.io/applier"
"""The field manager of KLM. It stays on objects that KLM has let go."""


def has_klm_label(obj: Object) -> bool:
    """Whether an object has the label of KLM."""
    label, value = KLM_LABEL
    return (obj["metadata"].get("labels") or {}).get(label) == value


def taking_from_klm(policy: Policy) -> Policy:
    """The policy that also takes the fields of KLM's field manager: no module that KLM has is written."""
    return replace(policy, interactive_managers=(*policy.interactive_managers, KLM_APPLIER))


def explain_two_managers(name: str) -> str:
    """Why a module of ours is refused that the Kyma resource names, too."""
    return (
        f"{name} is managed by Kyma's lifecycle manager, too: somebody has added it to the Kyma resource, so"
        " two managers write it, and nothing of it is changed here. For that manager to have it alone, set"
        " hand_over=true (kyma_modules_hand_over), or state: unmanaged for it"
    )


def explain_mark(name: str, marked: Ref) -> str:
    """Why a module is refused that has the label of KLM, and that the Kyma resource does not name."""
    return (
        f"{name} is managed by Kyma's lifecycle manager: {marked} has its label {': '.join(KLM_LABEL)}. That"
        " manager demands the module, still deletes it, or has left it behind. Only if it was left behind,"
        " set takeover=true (kyma_takeover) once"
    )
