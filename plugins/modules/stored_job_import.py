# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The module kyma.lifecycle.stored_job_import."""

from __future__ import annotations

DOCUMENTATION = r"""
module: stored_job_import
short_description: Creates the definitions of all jobs that exist in a cluster
version_added: "1.0.0"
author:
  - the kyma.lifecycle authors (@kyma-project)
description:
  - Creates a definition for each Job, CronJob and Deployment that has none, of all namespaces. It does not
    write runtime objects, so nothing restarts.
  - A definition holds all that it takes to build the runtime objects again. What the fields can't express
    becomes O(kyma.lifecycle.stored_job#module:pod) and the other fields in the form of Kubernetes.
  - It reads objects that were created by hand, and those of Toolforge. These are its labels of versions 1
    and 2, and its custom resources C(jobs-api.toolforge.org/v1). A resolved schedule stays as it is.
  - An object that it can't read is a line in RV(unreadable), and stops no other one.
  - A second run changes nothing.
  - Not imported are objects that have a controller, Jobs of errands, components of this collection, and what
    is in system namespaces.
  - It creates definitions also with O(kyma.lifecycle.job_store#module:unknown_jobs=ignore).
  - The job store must be installed, see M(kyma.lifecycle.job_store).
extends_documentation_fragment:
  - kyma.lifecycle.connection
  - kyma.lifecycle.attributes
  - kyma.lifecycle.attributes.diff
options:
  namespaces:
    description:
      - The namespaces to import. Without any, the task imports all but the system's.
    type: list
    elements: str
    default: []
    aliases: [namespace]
  label_selectors:
    description:
      - Labels that the runtime objects must have, such as C(app=shop). All of them count.
    type: list
    elements: str
    default: []
  rewrite:
    description:
      - Whether to write definitions of another storage version again, in O(storage_version). Without it, the
        next change of a job writes it in the current one.
    type: bool
    default: false
  storage_version:
    description:
      - The storage version for O(rewrite=true). An older one rolls definitions back, so that an older release
        of this collection can read them. This one reads all of them.
    type: int
    choices: [1, 2]
    default: 2
  metrics_file:
    description:
      - The file that gets the counters, in the text format of Prometheus. The textfile collector of the node
        exporter reads such files if the name ends with C(.prom).
      - The task replaces the whole file. It writes C(jobs_only_in_kubernetes_total) and
        C(jobs_only_in_storage_total), each with the label C(namespace), for the namespaces that it has read.
      - In check mode the task does not write it.
    type: path
notes:
  - The user needs the rights of the ClusterRole C(kyma-lifecycle-job-store), in the whole cluster or in each
    of O(namespaces).
seealso:
  - module: kyma.lifecycle.stored_job
  - module: kyma.lifecycle.job_store
"""

EXAMPLES = r"""
- name: Show which jobs an import would take
  kyma.lifecycle.stored_job_import:
  check_mode: true
  register: found

- name: Import all jobs of a cluster
  kyma.lifecycle.stored_job_import:
    metrics_file: /var/lib/node_exporter/kyma_jobs.prom
  register: done

- name: Show what could not be imported
  ansible.builtin.debug:
    var: done.unreadable

- name: Migrate the definitions of a namespace to the current storage version
  kyma.lifecycle.stored_job_import:
    namespace: shop
    rewrite: true
"""

RETURN = r"""
imported:
  description: The jobs that got a definition, or would in check mode, as NAMESPACE/NAME.
  returned: success
  type: list
  elements: str
  sample: [shop/backup]
rewritten:
  description: The jobs whose definition was written again, or would be in check mode, as NAMESPACE/NAME.
  returned: success
  type: list
  elements: str
  sample: []
unchanged:
  description: How many definitions did not change.
  returned: success
  type: int
  sample: 12
unreadable:
  description: What could not be imported or rewritten, one line each.
  returned: success
  type: list
  elements: str
  sample: ["Deployment shop/sixty-characters: its name has more than 52 characters"]
lines:
  description: One line for each job that was imported, rewritten or unreadable, for people.
  returned: success
  type: list
  elements: str
  sample: ["shop/backup: imported"]
counters:
  description:
    - The counters of each namespace that was read. They are stored in the cluster, in a C(JobCounter) of the
      namespace. Each object counts once, by its uid.
  returned: success
  type: list
  elements: dict
  contains:
    namespace:
      description: The namespace.
      type: str
      sample: shop
    only_in_kubernetes:
      description: How many jobs were found that had no definition.
      type: int
      sample: 3
    only_in_storage:
      description: How many definitions were found whose runtime objects were missing.
      type: int
      sample: 0
not_done:
  description: The jobs that were not begun, because the task was stopped. Run it again to do the rest.
  returned: if it was stopped
  type: list
  elements: str
  sample: [shop/backup]
"""

from ansible_collections.kyma.lifecycle.plugins.module_utils._carrier.module_runner import run_module
from ansible_collections.kyma.lifecycle.plugins.module_utils._tasks.stored_job_import import DEFINITION


def main() -> None:
    """Run the module."""
    run_module(DEFINITION)


if __name__ == "__main__":
    main()
