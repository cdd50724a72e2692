# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The module kyma.lifecycle.errand_info."""

from __future__ import annotations

DOCUMENTATION = r"""
module: errand_info
short_description: Shows errands, and how their runs ended
version_added: "1.0.0"
author:
  - the kyma.lifecycle authors (@kyma-project)
description:
  - Shows what each errand is at, how its last runs ended, and which Secrets hold its output.
  - It reads errands only, and no value of a Secret.
extends_documentation_fragment:
  - kyma.lifecycle.connection
  - kyma.lifecycle.attributes
  - kyma.lifecycle.attributes.read
options:
  namespaces:
    description:
      - The namespaces to show. Without any, all are shown.
    type: list
    elements: str
    default: []
    aliases: [namespace]
  names:
    description:
      - The errands to show. Without any, all are shown.
    type: list
    elements: str
    default: []
    aliases: [name]
  label_selectors:
    description:
      - Labels that the errands must have, such as C(app=shop). All of them count.
    type: list
    elements: str
    default: []
seealso:
  - module: kyma.lifecycle.errand
"""

EXAMPLES = r"""
- name: Read the errands of a namespace
  kyma.lifecycle.errand_info:
    namespace: shop
  register: found

- name: Show those whose last run failed
  ansible.builtin.debug:
    msg: "{{ found.errands | selectattr('phase', 'equalto', 'Failed') | map(attribute='name') }}"
"""

RETURN = r"""
errands:
  description: The errands, by namespace and name.
  returned: success
  type: list
  elements: dict
  contains:
    namespace:
      description: The namespace.
      type: str
      sample: shop
    name:
      description: The name.
      type: str
      sample: backup
    phase:
      description:
        - V(Idle), V(Refused), V(Waiting), V(Queued), V(Running), V(Succeeded) or V(Failed).
      type: str
      sample: Succeeded
    message:
      description: Why it is in this phase. Empty if nothing needs to be said.
      type: str
      sample: ""
    trigger:
      description: The strategy, V(manual), V(now), V(once) or V(done).
      type: str
      sample: manual
    update_on_config_change:
      description: Whether it runs again when its configuration changes.
      type: bool
      sample: false
    run:
      description: The last run, or the active one. None if it has never run.
      type: dict
      contains: &run
        run:
          description: The number of the run.
          type: int
          sample: 7
        trigger:
          description: Why it was started, V(Requested), V(Now), V(Once) or V(ConfigurationChanged).
          type: str
          sample: Requested
        state:
          description: V(running), V(succeeded) or V(failed).
          type: str
          sample: succeeded
        outcome:
          description: How it ended, see RV(kyma.lifecycle.errand#module:outcome). Empty before its end.
          type: str
          sample: Completed
        message:
          description: What failed. Empty if nothing did.
          type: str
          sample: ""
        exit_code:
          description: The exit code of the container that failed, or V(0). None if it is not known.
          type: int
          sample: 0
        started:
          description: When it began. Empty if that is not known.
          type: str
          sample: "2026-11-21T13:18:54Z"
        finished:
          description: When it ended. Empty if that is not known.
          type: str
          sample: "2026-11-21T13:19:06Z"
        seconds:
          description: How long it took. None before its end.
          type: float
          sample: 12.0
        secrets:
          description:
            - The names of the Secrets that hold its output. Where there are very many, only the newest runs
              have their names.
          type: list
          elements: str
          sample: [credentials-v3]
        secret_count:
          description: How many Secrets hold its output.
          type: int
          sample: 1
        pruned:
          description: The Secrets of old versions that it has deleted, by name.
          type: list
          elements: str
          sample: [credentials-v1]
    history:
      description: The last runs that have ended, the newest first, at most ten.
      type: list
      elements: dict
      contains: *run
    secrets:
      description: The names of the Secrets that hold the output of the last run.
      type: list
      elements: str
      sample: [credentials-v3]
    conditions:
      description: The conditions of the errand.
      type: list
      elements: dict
      contains:
        type:
          description: V(Accepted), V(Running), V(Succeeded), V(NowNotRepeated) or V(Cyclic).
          type: str
          sample: Succeeded
        status:
          description: V(True), V(False) or V(Unknown).
          type: str
          sample: "True"
        reason:
          description: A word for it.
          type: str
          sample: Completed
        message:
          description: A sentence for it. Empty if nothing needs to be said.
          type: str
          sample: ""
"""

from ansible_collections.kyma.lifecycle.plugins.module_utils._carrier.module_runner import run_module
from ansible_collections.kyma.lifecycle.plugins.module_utils._tasks.errand_info import DEFINITION


def main() -> None:
    """Run the module."""
    run_module(DEFINITION)


if __name__ == "__main__":
    main()
