# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The module kyma.lifecycle.reconcile_errands."""

from __future__ import annotations

DOCUMENTATION = r"""
module: reconcile_errands
short_description: Does what can be done about all errands of a cluster, once or all the time
version_added: "1.0.0"
author:
  - the kyma.lifecycle authors (@kyma-project)
description:
  - Reads all errands with what they depend on, one list for each kind. Then it does for each errand what can
    be done now, such as to create its Job, or to read its output and write the Secrets.
  - It waits for no container. Call it again until nothing changes, or let it watch.
  - With O(watch=true) it is the engine of errands. It watches errands and what they refer to, and reconciles
    each errand when something of it changes. It does not end by itself.
  - Errands are reconciled side by side. One that can't be reconciled stops no other one, and fails the task
    at its end. Two callers at once, or an engine beside it, do no harm.
  - It installs the definition of C(Errand), with three ClusterRoles, if it is missing or not the one of this
    version. If it may not, and the cluster has a definition, it warns and goes on.
  - The usual options are O(namespaces), O(watch) and O(fail_on). All other options are for experts.
extends_documentation_fragment:
  - kyma.lifecycle.connection
  - kyma.lifecycle.attributes
attributes:
  check_mode:
    description: Can run in C(check_mode) without changing anything.
    support: full
    details:
      - It shows the next steps of each errand. What follows from these is not known yet.
      - It does so once, and does not watch, also with O(watch=true).
  diff_mode:
    description: Shows the changes in C(diff) mode.
    support: none
    details:
      - RV(errands[].steps) has the steps.
options:
  namespaces:
    description:
      - The namespaces whose errands are reconciled. Without any, all are.
    type: list
    elements: str
    default: []
    aliases: [namespace]
  watch:
    description:
      - Whether to watch errands, and to reconcile changes, until you stop it.
      - It works under the lease C(errands) in the namespace C(kyma-lifecycle). A second one stands by, and
        takes over when the first one ends or no longer renews the lease.
      - C(SIGINT) or C(SIGTERM) to C(ansible-playbook) stops it. It then finishes what is in flight, which
        takes up to 30 seconds, and releases the lease. With C(async) and C(poll=0), send C(SIGTERM) to the
        process of the module, or set O(watch_seconds).
      - It reports each outcome of an errand, and what it is at itself.
    type: bool
    default: false
  fail_on:
    description:
      - V(reconciliation) fails the task if an errand could not be reconciled. How a run ended is the errand's
        own affair.
      - V(run) also fails it if the last run of an errand failed. It does not go with O(watch=true).
    type: str
    choices: [reconciliation, run]
    default: reconciliation
  # Expert options.
  holder_image:
    description:
      - The image of the containers that hold output until it is read, see
        O(kyma.lifecycle.errand#module:holder_image).
    type: str
    default: docker.io/library/busybox:1.37
  refused_pod_seconds:
    description:
      - Seconds after which a run fails as C(PodRefused) if no pod can be created for it, such as by Pod
        Security or a webhook. It waits for any time for a quota that is used up.
    type: float
    default: 600
  image_pull_seconds:
    description:
      - Seconds after which a run fails as C(ImagePullFailed) if an image of it can't be pulled. Its Job is
        deleted before that, so that it can't start any more.
    type: float
    default: 600
  watch_seconds:
    description:
      - How many seconds it watches with O(watch=true). Without it, it has no end.
      - With C(async) set it to less than the seconds of C(async), which end the task by force. The lease of a
        task that was ended by force expires after O(lease_seconds).
    type: int
  workers:
    description:
      - How many errands it reconciles at the same time with O(watch=true).
    type: int
    default: 8
  metrics_file:
    description:
      - The file that gets metrics with O(watch=true), in the text format of Prometheus. Node exporter's
        textfile collector reads such files if the name ends with C(.prom).
      - It is replaced as a whole, at least once a minute.
    type: path
  http_address:
    description:
      - The address at which the engine answers HTTP requests with O(watch=true), such as V(127.0.0.1:8080),
        or V(:8080) for every address of the machine. Without it, it answers none.
      - C(/livez) says whether the engine still moves, and C(/readyz) whether it works or can take over, with
        the reason. C(/metrics) has the metrics of O(metrics_file).
      - It needs no login. It shows names of kinds and messages of the API server, and no content of objects.
    type: str
  log_file:
    description:
      - The file to which it appends a line of JSON for each change of an errand and each report of the engine
        with O(watch=true). Each has C(time), C(subject), C(state) and C(message), and those of errands have
        C(namespace), C(name), C(run), C(reason), C(exit_code), C(seconds) and C(secrets), which are names.
      - In a container, C(/proc/1/fd/1) is the log of the container.
    type: path
  lease_seconds:
    description:
      - How many seconds the lease lasts from each renewal on with O(watch=true), and so after how many
        seconds another engine takes over from one that was killed. The minimum is 6.
    type: int
    default: 45
notes:
  - The user needs the rights of the ClusterRole C(kyma-lifecycle-errands-engine), in the whole cluster or in
    each of O(namespaces).
seealso:
  - module: kyma.lifecycle.errand
  - module: kyma.lifecycle.errand_info
"""

EXAMPLES = r"""
- name: Reconcile the errands of a cluster
  kyma.lifecycle.reconcile_errands:

- name: Reconcile those of two namespaces until nothing is left to do
  kyma.lifecycle.reconcile_errands:
    namespaces: [shop, cart]
    fail_on: run
  register: reconciled
  until: reconciled is not changed
  retries: 60
  delay: 5

- name: Run the engine until you stop it
  kyma.lifecycle.reconcile_errands:
    watch: true
    metrics_file: /var/lib/node_exporter/kyma_errands.prom

- name: Start an engine for an hour, and go on with the play
  kyma.lifecycle.reconcile_errands:
    watch: true
    watch_seconds: 3600
  async: 3700
  poll: 0
"""

RETURN = r"""
errands:
  description: What was done about each errand, or would be in check mode. Empty if it has watched.
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
    changed:
      description: Whether anything was done.
      type: bool
      sample: true
    steps:
      description: What was done, in this order.
      type: list
      elements: str
      sample: [record phase Running of run 7, create Job backup-7]
    phase:
      description: What it is at, see RV(kyma.lifecycle.errand_info#module:errands[].phase).
      type: str
      sample: Running
    message:
      description: Why it is in this phase. Empty if nothing needs to be said.
      type: str
      sample: ""
    run:
      description: The number of the last run, or of the one that goes on. V(0) if it has never run.
      type: int
      sample: 7
    recheck_seconds:
      description: After how many seconds to call it again, though nothing has changed. None for never.
      type: float
      sample: 2.0
durations:
  description:
    - How long the runs took whose end this task has recorded, as rows of durations. Empty if it has watched.
    - The callback P(kyma.lifecycle.durations#callback) and the report collect these rows.
  returned: success
  type: list
  elements: dict
  contains:
    kind:
      description: V(errand).
      type: str
      sample: errand
    name:
      description: Namespace and name of the errand.
      type: str
      sample: shop/backup
    state:
      description: V(succeeded) or V(failed).
      type: str
      sample: succeeded
    seconds:
      description: How long the run took.
      type: float
      sample: 12.0
    slow:
      description: Always V(false). Durations of all kinds have the same fields.
      type: bool
      sample: false
    started_at:
      description: When the run began, in UTC. Empty if unknown.
      type: str
      sample: "2026-11-21T13:18:54Z"
    finished_at:
      description: When the run ended, in UTC. Empty if unknown.
      type: str
      sample: "2026-11-21T13:19:06Z"
    component:
      description: Always empty.
      type: str
      sample: ""
failures:
  description: The errands that could not be reconciled. Empty if it has watched.
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
    message:
      description: Why.
      type: str
      sample: "create Job shop/backup-7: jobs.batch is forbidden"
runs:
  description: How many runs of errands it has started, and the ends of how many it has seen.
  returned: when it has watched
  type: dict
  contains:
    started:
      description: Runs that it has started.
      type: int
      sample: 12
    succeeded:
      description: Runs that have succeeded.
      type: int
      sample: 11
    failed:
      description: Runs that have failed.
      type: int
      sample: 1
definition_installed:
  description: Whether the definition of C(Errand) was installed or updated, or would be in check mode.
  returned: success
  type: bool
  sample: false
not_done:
  description: The errands that were not begun, because the task was stopped. Run it again to do the rest.
  returned: if it was stopped
  type: list
  elements: str
  sample: [shop/report]
"""

from ansible_collections.kyma.lifecycle.plugins.module_utils._carrier.module_runner import run_module
from ansible_collections.kyma.lifecycle.plugins.module_utils._tasks.reconcile_errands import DEFINITION


def main() -> None:
    """Run the module."""
    run_module(DEFINITION)


if __name__ == "__main__":
    main()
