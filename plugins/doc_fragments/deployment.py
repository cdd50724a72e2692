# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Documentation of the options that say how objects may be written."""

from __future__ import annotations


class ModuleDocFragment:
    """The fragment C(kyma.lifecycle.deployment)."""

    DOCUMENTATION = r"""
options:
  replace_immutable:
    description:
      - What may be deleted and recreated when an immutable field changes.
      - A kind, such as V(StatefulSet), allows it for all objects of that kind. V(StatefulSet
        kyma-system/eventing-nats) allows it for that object alone.
      - For all other objects such a change fails, with a message that names the field.
    type: list
    elements: str
    default: [Job]
  force_conflicts:
    description:
      - Whether to overwrite fields that other field managers own. Otherwise they stay, and are reported once.
    type: bool
    default: false
  interactive_managers:
    description:
      - Name patterns of the field managers that people use. A field that one of these has changed is drift,
        and is restored. A field that another manager owns stays, see O(force_conflicts).
    type: list
    elements: str
    default: ["kubectl*", k9s, oc]
  strict_drift:
    description:
      - Whether to remove what others have added to objects of the release, such as a container or a label.
        Otherwise it stays, and is reported once.
    type: bool
    default: false
  refuse_unknown_fields:
    description:
      - Whether to refuse manifests with fields that the API server does not know, such as a misspelt one.
        Otherwise the server ignores them, and a warning names them. Releases of Kyma have such fields.
    type: bool
    default: false
  takeover:
    description:
      - Whether to write objects that Argo CD, Flux or a Helm release manages, and to take over all fields
        that these own. Otherwise the plan is refused.
      - The other tool is not changed. While it is active, it may overwrite what is deployed.
    type: bool
    default: false
  adopt_losses:
    description:
      - What may lose values when it is adopted. An object that Helm or a client-side apply created may have
        data, containers or other values that the release does not have. The plan is refused if an object
        would lose such values and is not listed here.
      - An object, such as V(Secret kyma-system/tls), allows it for that object. The name of a component or
        module allows it for all of its objects, and V(all) for all objects.
      - Objects that Argo CD, Flux or a Helm release manages need O(takeover) instead.
    type: list
    elements: str
    default: []
"""

    PROFILE = r"""
options:
  change_profile:
    description:
      - Whether to deploy another O(profile) than the one that the cluster has. Otherwise it is refused.
    type: bool
    default: false
"""

    PRUNING = r"""
options:
  prune_allow:
    description:
      - What may be pruned although its kind protects it. CustomResourceDefinitions, PersistentVolumeClaims
        and Namespaces that the release no longer has stay, unless they are listed here.
      - A kind, such as V(Namespace), allows all objects of that kind, except CRDs that still have custom
        resources and namespaces with objects of others.
      - A single object, such as V(PersistentVolumeClaim kyma-system/data) or V(Namespace kiali), is deleted
        with its content.
    type: list
    elements: str
    default: []
"""
