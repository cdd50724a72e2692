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
      - What may be deleted and recreated when a field changes that can't be changed in place.
      - A kind, such as V(StatefulSet), allows it for all objects of that kind. V(StatefulSet
        kyma-system/eventing-nats) allows it for that object alone.
      - For all other objects such a change fails, with a message that names the field.
    type: list
    elements: str
    default: [Job]
  force_conflicts:
    description:
      - Whether to take fields that somebody else manages. Otherwise they are left to them, and told once.
    type: bool
    default: false
  interactive_managers:
    description:
      - The field managers behind which a person sits, as patterns of their names. Fields that one of them has
        changed are drift, and are restored. Fields that others hold are left to them, see O(force_conflicts).
    type: list
    elements: str
    default: ["kubectl*", k9s, oc]
  strict_drift:
    description:
      - Whether to remove what others have added to objects of the release, such as a container or a label.
        Otherwise that is told once, and stays.
    type: bool
    default: false
  takeover:
    description:
      - Whether to write objects that Argo CD, Flux or a Helm release manages, and to take over all that those
        hold of them. Otherwise they stand in the way of a plan.
      - Nothing is done to the other tool. As long as it is at work, it may write over what is deployed.
    type: bool
    default: false
"""

    PRUNING = r"""
options:
  prune_allow:
    description:
      - What may be pruned in spite of its kind. CustomResourceDefinitions, PersistentVolumeClaims and
        Namespaces that the release no longer has stay, unless they are listed here.
      - A kind, such as V(Namespace), allows all of that kind, but for definitions that still have custom
        resources and namespaces that anything of others lives in.
      - A single object, such as V(PersistentVolumeClaim kyma-system/data) or V(Namespace kiali), goes with
        all that is in it.
    type: list
    elements: str
    default: []
"""
