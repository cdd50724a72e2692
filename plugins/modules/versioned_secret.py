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
  - A Secret without the first of these labels is no version. If it has the name of the next version, the
    module uses the next number that is free.
  - Errands that refer to any version of a base run with the newest one.
  - The module never returns or prints a value of a Secret.
extends_documentation_fragment:
  - kubernetes.core.k8s_auth_options
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
  keep:
    description:
      - How many versions stay, at least 1. Older ones are deleted, also if no new version is needed.
      - A version stays if a pod, an errand, or the pod template of a Deployment, StatefulSet, DaemonSet, Job
        or CronJob refers to it.
      - Without it, all versions stay.
    type: int
  version:
    description:
      - The number of the only version to delete, for O(state=absent).
    type: int
  force:
    description:
      - Whether O(state=absent) also deletes a version that is in use. Otherwise it refuses, and deletes
        nothing.
    type: bool
    default: false
notes:
  - The user needs the rights to get, list, create and delete Secrets in the namespace. For O(keep) and
    O(state=absent) also those to list pods, Deployments, StatefulSets, DaemonSets, Jobs, CronJobs and
    errands.
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
"""

from ansible_collections.kyma.lifecycle.plugins.module_utils._carrier.module_runner import run_module
from ansible_collections.kyma.lifecycle.plugins.module_utils._tasks.versioned_secret import DEFINITION


def main() -> None:
    """Run the module."""
    run_module(DEFINITION)


if __name__ == "__main__":
    main()
