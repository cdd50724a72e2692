# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The module kyma.lifecycle.versioned_secret_info."""

from __future__ import annotations

DOCUMENTATION = r"""
module: versioned_secret_info
short_description: Shows the versions of versioned Secrets, without their values
version_added: "1.0.0"
author:
  - the kyma.lifecycle authors (@kyma-project)
description:
  - Shows which versions of Secrets a cluster has, and which one is the newest.
  - A Secret is a version if it has the label C(quarks.cloudfoundry.org/secret-kind=versionedSecret), and a
    name that ends in C(-v) and a number.
  - It never shows a value of a Secret. If a label or an annotation repeats a value of four characters or
    more, that value is hidden.
  - It reads only.
extends_documentation_fragment:
  - kyma.lifecycle.connection
  - kyma.lifecycle.attributes
  - kyma.lifecycle.attributes.read
options:
  namespace:
    description:
      - The namespace of the Secrets. Without it, those of all namespaces are shown.
    type: str
  names:
    description:
      - The base names to show. Without any, all are shown.
    type: list
    elements: str
    default: []
    aliases: [name]
notes:
  - The user needs the right to list Secrets in the namespace, or in all of them.
seealso:
  - module: kyma.lifecycle.versioned_secret
"""

EXAMPLES = r"""
- name: Read the versions of the credentials of a database
  kyma.lifecycle.versioned_secret_info:
    namespace: shop
    names: [database]
  register: found

- name: Show the newest version of each
  ansible.builtin.debug:
    msg: "{{ found.secrets | map(attribute='newest') }}"
"""

RETURN = r"""
secrets:
  description: The versioned Secrets, by namespace and base name. A base without versions is not among them.
  returned: success
  type: list
  elements: dict
  contains:
    namespace:
      description: The namespace.
      type: str
      sample: shop
    name:
      description: The base name.
      type: str
      sample: database
    newest:
      description: The Secret of the newest version.
      type: str
      sample: database-v3
    newest_version:
      description: The number of the newest version.
      type: int
      sample: 3
    versions:
      description: The versions, the lowest number first.
      type: list
      elements: dict
      contains:
        version:
          description: The number.
          type: int
          sample: 3
        name:
          description: The name of the Secret.
          type: str
          sample: database-v3
        labels:
          description: The labels, without those that mark a version.
          type: dict
          sample: {app: shop}
        annotations:
          description:
            - The annotations, without the description of the source, and without those in which tools keep a
              copy of the whole object.
          type: dict
          sample: {}
        source_description:
          description: Who has created it, as its annotation says.
          type: str
          sample: kyma.lifecycle.versioned_secret
        created:
          description: When it was created.
          type: str
          sample: "2026-11-21T13:18:54Z"
        data_keys:
          description: The keys of its data, sorted.
          type: list
          elements: str
          sample: [password, user]
"""

from ansible_collections.kyma.lifecycle.plugins.module_utils._carrier.module_runner import run_module
from ansible_collections.kyma.lifecycle.plugins.module_utils._tasks.versioned_secret_info import DEFINITION


def main() -> None:
    """Run the module."""
    run_module(DEFINITION)


if __name__ == "__main__":
    main()
