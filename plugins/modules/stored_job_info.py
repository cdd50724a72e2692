# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The module kyma.lifecycle.stored_job_info."""

from __future__ import annotations

DOCUMENTATION = r"""
module: stored_job_info
short_description: Shows jobs, their drift, and what a load would need to create them again
version_added: "1.0.0"
author:
  - the kyma.lifecycle authors (@kyma-project)
description:
  - Lists jobs from the source of truth of the job store, which is Kubernetes or the definitions. See
    M(kyma.lifecycle.job_store).
  - The number of its requests depends on the number of kinds, not on the number of jobs.
  - It writes nothing. It lists a job that has no definition as V(adoptable), or hides it, see
    O(kyma.lifecycle.job_store#module:unknown_jobs).
  - An object that it can't read is a warning, and does not hide other jobs.
  - Jobs that have a controller are not listed. The Jobs of a CronJob are runs of a scheduled job.
extends_documentation_fragment:
  - kyma.lifecycle.connection
  - kyma.lifecycle.attributes
  - kyma.lifecycle.attributes.read
requirements:
  - cronsim >= 2.7, for the times in RV(jobs[].runs)
options:
  namespaces:
    description:
      - The namespaces to show. Without any, the task shows all but the system's.
    type: list
    elements: str
    default: []
    aliases: [namespace]
  names:
    description:
      - The jobs to show. Without any, the task shows all.
    type: list
    elements: str
    default: []
    aliases: [name]
  label_selectors:
    description:
      - Labels that definitions and runtime objects must have, such as C(app=shop). All of them count.
    type: list
    elements: str
    default: []
  drift:
    description:
      - Whether to show only jobs with drift, which are jobs whose runtime objects others have changed.
    type: bool
    default: false
  dump:
    description:
      - Whether to return RV(dump) as well.
    type: bool
    default: false
notes:
  - Values of environment variables are in RV(jobs) and RV(dump), as they are in the definitions. Drift does
    not show them.
seealso:
  - module: kyma.lifecycle.stored_job
  - module: kyma.lifecycle.job_store
"""

EXAMPLES = r"""
- name: Read the jobs of a namespace
  kyma.lifecycle.stored_job_info:
    namespace: shop
  register: found

- name: Show the jobs that others have changed
  ansible.builtin.debug:
    msg: "{{ found.jobs | selectattr('drift') | map(attribute='name') }}"

- name: Read all jobs in the format of jobs.yaml
  kyma.lifecycle.stored_job_info:
    namespace: shop
    dump: true
  register: found

- name: Write them to a file
  ansible.builtin.copy:
    content: "{{ found.dump | to_nice_yaml }}"
    dest: jobs.yaml
    mode: "0600"
"""

RETURN = r"""
jobs:
  description: The jobs, by namespace and name.
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
    type:
      description: V(one-off), V(scheduled) or V(continuous).
      type: str
      sample: scheduled
    fields:
      description:
        - The fields of the job that were set, under the names of the options of
          M(kyma.lifecycle.stored_job). Empty if they can't be read.
      type: dict
      sample: {schedule: "@daily", image: "backup:1.4"}
    state:
      description:
        - V(starting), V(running), V(finished), V(failed), V(suspended), V(scheduled), V(deleting),
          V(missing) or V(unknown). V(missing) is a job with a definition of which nothing runs.
      type: str
      sample: scheduled
    source:
      description: Where the fields are from, V(kubernetes) or V(storage).
      type: str
      sample: storage
    adoptable:
      description: Whether the job has no definition, and M(kyma.lifecycle.stored_job) would create one.
      type: bool
      sample: false
    outdated:
      description:
        - Whether the definition describes other runtime objects now than when it was rolled out, for example
          because a default has changed.
      type: bool
      sample: false
    read_only:
      description: Whether the definition has a newer storage version, which this version can't write.
      type: bool
      sample: false
    drift:
      description: What others have changed in the runtime objects.
      type: list
      elements: dict
      contains:
        object:
          description: The runtime object.
          type: str
          sample: Deployment shop/web
        field:
          description: The path of the field. Empty if the whole object is missing.
          type: str
          sample: spec.replicas
        expected:
          description: The value by the definition. Values of environment variables are not shown.
          type: raw
          sample: 1
        actual:
          description: The value in the cluster. Values of environment variables are not shown.
          type: raw
          sample: 3
        manager:
          description: The field manager that changed it. Empty if it is not known.
          type: str
          sample: kubectl-scale
        time:
          description: When it changed. Empty if that is not known.
          type: str
          sample: "2026-11-21T13:18:54Z"
    history:
      description: The last runs of a one-off job that have ended, the newest first, at most ten.
      type: list
      elements: dict
      contains:
        run:
          description: The number of the run.
          type: int
          sample: 7
        state:
          description: V(succeeded) or V(failed).
          type: str
          sample: succeeded
        outcome:
          description: V(Completed), or why it failed, such as V(BackoffLimitExceeded).
          type: str
          sample: Completed
        message:
          description: What failed. Empty if nothing did.
          type: str
          sample: ""
        exit_code:
          description: V(0) for a success, else none.
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
          description: How long it took. None if that is not known.
          type: float
          sample: 12.0
    runs:
      description:
        - When a scheduled job runs. Empty for other jobs, and for a job without its CronJob.
        - Times of the schedule need the library cronsim.
      type: dict
      contains:
        time_zone:
          description:
            - The time zone of the schedule. V(UTC) if it has none. Then it is that of
              kube-controller-manager, which is UTC in most clusters.
          type: str
          sample: Europe/Berlin
        last_run:
          description: For when the last run was due. Empty if there was none.
          type: str
          sample: "2026-11-21T02:17:00Z"
        last_success:
          description: When the last run ended that succeeded. Empty if none did.
          type: str
          sample: "2026-11-21T02:19:31Z"
        next_run:
          description: When the next run is due. Empty if the job is suspended, or if that is not known.
          type: str
          sample: "2026-11-22T03:17:00+01:00"
        missed_run:
          description:
            - When the last run was due that has not started. Empty if it has. It may be a time before the
              schedule was changed, as a CronJob does not say when that was.
          type: str
          sample: ""
        why_missed:
          description:
            - Why it has not started, as far as the CronJob and its Events say, which Kubernetes deletes after
              an hour. Else V(not known). Empty if it has started.
          type: str
          sample: ""
        problem:
          description: Why the times of the schedule are not known. Empty if they are.
          type: str
          sample: ""
    storage_version:
      description: The storage version of the definition. V(0) if there is none.
      type: int
      sample: 3
    message:
      description: What else there is to know. Empty if there is nothing.
      type: str
      sample: ""
    reason:
      description: A word for the message, such as V(OutOfQuota) or V(PodsRefused). Empty if there is none.
      type: str
      sample: ""
dump:
  description:
    - The jobs in the format of O(kyma.lifecycle.stored_job#module:jobs), each with the fields that were set.
      Loading it changes nothing.
    - It has the jobs that the other options select, without those that can't be written.
  returned: O(dump=true)
  type: list
  elements: dict
  sample: [{name: backup, namespace: shop, type: scheduled, schedule: "@daily", image: "backup:1.4"}]
counts:
  description: How many of the jobs in RV(jobs) there are.
  returned: success
  type: dict
  contains:
    jobs:
      description: All.
      type: int
      sample: 12
    adoptable:
      description: Those without a definition.
      type: int
      sample: 1
    drifted:
      description: Those with drift.
      type: int
      sample: 0
    outdated:
      description: Those that a new default would change.
      type: int
      sample: 0
    read_only:
      description: Those of a newer storage version.
      type: int
      sample: 0
adoptable:
  description: The jobs in RV(jobs) that have no definition, as NAMESPACE/NAME.
  returned: success
  type: list
  elements: str
  sample: [shop/by-hand]
hidden:
  description:
    - The jobs without a definition that are not in RV(jobs), because RV(unknown_jobs=ignore), as
      NAMESPACE/NAME. They run.
  returned: success
  type: list
  elements: str
  sample: []
source_of_truth:
  description: Where the list is from, V(kubernetes) or V(storage).
  returned: success
  type: str
  sample: kubernetes
unknown_jobs:
  description: What happens to jobs without a definition, V(adopt) or V(ignore).
  returned: success
  type: str
  sample: adopt
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
"""

from ansible_collections.kyma.lifecycle.plugins.module_utils._carrier.module_runner import run_module
from ansible_collections.kyma.lifecycle.plugins.module_utils._tasks.stored_job_info import DEFINITION


def main() -> None:
    """Run the module."""
    run_module(DEFINITION)


if __name__ == "__main__":
    main()
