# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The module kyma.lifecycle.versioned_secret."""

from __future__ import annotations

DOCUMENTATION = r"""
module: versioned_secret
short_description: Writes and deletes versions of a versioned Secret
version_added: "1.0.0"
author:
  - the kyma.lifecycle authors (@kyma-project)
description:
  - A versioned Secret is a set of immutable Secrets with one base name. Each version is a Secret
    C(<name>-v<number>), such as C(database-v3).
  - The module creates the next version if the data, labels or annotations differ from those of the newest
    version. Otherwise it changes nothing. It never changes a version.
  - Each version has the labels C(quarks.cloudfoundry.org/secret-kind=versionedSecret) and
    C(quarks.cloudfoundry.org/secret-version), and the annotation
    C(quarks.cloudfoundry.org/source-description), as QuarksJob writes them.
  - Only Secrets that this collection has created are deleted. Others with such a label and name stay, and a
    warning names them.
  - A number is never used again, also if its version was deleted by hand. The Secret C(<name>-v0) records the
    highest one. It has no data, and stays when all versions are deleted.
  - If the newest version belongs to an errand, and has the same content, the module changes nothing. A
    warning says that the version is deleted with the errand.
  - A Secret without the first of these labels is no version. If it has the name of the next version, the
    module uses the next number that is free.
  - Errands that refer to any version of a base run with the newest one.
  - The module never returns or prints a value of a Secret.
  - The usual options are O(name), O(namespace), O(state), O(data), O(keep) and O(version). All other options
    are for experts.
extends_documentation_fragment:
  - kyma.lifecycle.connection
  - kyma.lifecycle.attributes
  - kyma.lifecycle.attributes.diff
attributes:
  diff_mode:
    description: Shows the changes in C(diff) mode.
    support: full
    details:
      - It shows which keys change, and no values.
options:
  name:
    description:
      - The base name, without C(-v) and a number.
    type: str
    required: true
  namespace:
    description:
      - The namespace of the Secrets.
    type: str
    required: true
  state:
    description:
      - V(present) creates the next version if it is needed.
      - V(absent) deletes the version O(version), or all versions of the base. It never deletes a Secret that
        is no version.
    type: str
    choices: [present, absent]
    default: present
  data:
    description:
      - The keys and values of the Secret. Each value is a text, as in C(stringData) of a Secret, and not
        encoded. Quote numbers and booleans.
      - All values together have at most 1 MiB.
      - Required if O(state=present).
    type: dict
  keep:
    description:
      - How many versions stay, at least 1. Older ones are deleted, also if no new version is needed.
      - A version stays if an errand or an object of Kubernetes' own kinds refers to it. The guide to errands
        names the kinds. Custom resources can't be known.
      - If one of these kinds can't be read, no version is deleted, and the task fails after the new version
        was written.
      - Without it, all versions stay.
    type: int
  version:
    description:
      - The number of the only version to delete, for O(state=absent).
    type: int
  # Expert options.
  labels:
    description:
      - Labels of the Secret, beside those that mark a version.
    type: dict
    default: {}
  annotations:
    description:
      - Annotations of the Secret, beside the one that describes its source.
    type: dict
    default: {}
  source_description:
    description:
      - A description of who creates the version. A different description alone makes no new version.
    type: str
    default: kyma.lifecycle.versioned_secret
  keep_seconds:
    description:
      - How many seconds from its creation a version stays at least, also if there are more than O(keep).
      - Requires O(keep).
    type: int
  force:
    description:
      - Whether O(state=absent) also deletes a version that is in use. Otherwise it refuses, and deletes
        nothing.
    type: bool
    default: false
notes:
  - The user needs the rights to get, list, create, patch and delete Secrets in the namespace. To delete
    versions with O(keep) or O(state=absent), also to list errands and all kinds that can use Secrets. Two of
    these kinds, C(persistentvolumes) and C(storageclasses), are in no namespace.
seealso:
  - module: kyma.lifecycle.versioned_secret_info
"""

EXAMPLES = r"""
- name: Write the credentials of a database, and let three versions stay
  kyma.lifecycle.versioned_secret:
    name: database
    namespace: shop
    data:
      user: admin
      password: "{{ database_password }}"
    labels:
      app: shop
    keep: 3
  register: credentials

- name: Let a Deployment use the newest version
  kubernetes.core.k8s:
    state: patched
    api_version: apps/v1
    kind: Deployment
    name: checkout
    namespace: shop
    definition:
      spec:
        template:
          spec:
            volumes:
              - name: credentials
                secret:
                  secretName: "{{ credentials.name }}"

- name: Delete one version
  kyma.lifecycle.versioned_secret:
    name: database
    namespace: shop
    state: absent
    version: 1

- name: Delete all versions, even if they are in use
  kyma.lifecycle.versioned_secret:
    name: database
    namespace: shop
    state: absent
    force: true
"""

RETURN = r"""
name:
  description: The Secret of the newest version, after the task. Empty if there is none.
  returned: success
  type: str
  sample: database-v3
version:
  description: The number of the newest version, after the task. V(0) if there is none.
  returned: success
  type: int
  sample: 3
removed:
  description: The Secrets of the versions that were deleted, the oldest first.
  returned: success
  type: list
  elements: str
  sample: [database-v1]
not_done:
  description: The versions that were not deleted, because the task was stopped. Run it again to do the rest.
  returned: if it was stopped
  type: list
  elements: str
  sample: [database-v2]
"""

from ansible_collections.kyma.lifecycle.plugins.module_utils._carrier.module_runner import run_module
from ansible_collections.kyma.lifecycle.plugins.module_utils._tasks.versioned_secret import DEFINITION


def main() -> None:
    """Run the module."""
    run_module(DEFINITION)


if __name__ == "__main__":
    main()
