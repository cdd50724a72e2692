# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The module kyma.lifecycle.errand."""

from __future__ import annotations

DOCUMENTATION = r"""
module: errand
short_description: Declares and runs errands, Jobs whose output can become Secrets
version_added: "1.0.0"
author:
  - the kyma.lifecycle authors (@kyma-project)
description:
  - An errand is a custom resource C(Errand) of C(lifecycle.kyma-project.io). It runs a Kubernetes Job when
    its trigger, or the configuration that its template refers to, says so. Files that the Job writes to
    C(/mnt/quarks) can become Secrets.
  - This module applies one errand server-side, runs it if O(trigger) says so, and waits for the end of the
    run. It takes QuarksJobs (C(quarks.cloudfoundry.org/v1alpha1)) too, and warns of what differs.
  - It validates all before it writes anything, with the API server's dry run of the errand and of its Job. It
    refuses with all problems at once.
  - It installs the definition of C(Errand), with three ClusterRoles, if it is missing or not the one of this
    version.
  - The usual options are O(name), O(namespace), O(state), O(definition), O(template), O(output), O(trigger)
    and O(timeout). All other options are for experts.
extends_documentation_fragment:
  - kyma.lifecycle.connection
  - kyma.lifecycle.attributes
  - kyma.lifecycle.attributes.diff
attributes:
  check_mode:
    description: Can run in C(check_mode) without changing anything.
    support: full
    details:
      - The API server validates the errand and its Job. Nothing is run.
options:
  # Usual options, in the order in which they are needed.
  name:
    description:
      - The name of the errand. Required unless the O(definition) has one.
    type: str
  namespace:
    description:
      - The namespace of the errand, and of its Jobs and Secrets. Required unless the O(definition) has one.
    type: str
  state:
    description:
      - V(present) creates or updates the errand.
      - V(absent) deletes it. The API server then deletes its Jobs, its pods and the Secrets that it has
        written, versions included.
    type: str
    choices: [present, absent]
    default: present
  definition:
    description:
      - A whole C(Errand), or a whole C(QuarksJob). A QuarksJob becomes an Errand of the same name.
      - Without it and without O(template), O(trigger=now) runs an errand that exists, and changes nothing of
        it.
      - Fields that neither of them has are left out of a QuarksJob with a warning. In an Errand they are an
        error.
    type: dict
  template:
    description:
      - The template of the Job with C(metadata) and C(spec), like C(jobTemplate) of a CronJob.
      - Each run has one pod, and is never repeated by itself. A warning names the fields that say otherwise.
    type: dict
  output:
    description:
      - What becomes of the output, as C(spec.output) of an Errand. C(kubectl explain errands.spec.output)
        shows what the fields mean.
    type: dict
  trigger:
    description:
      - V(manual) runs nothing. This is the default for O(template).
      - V(now) runs the errand at each call. It sets the annotation C(lifecycle.kyma-project.io/run-requested)
        to a new value, and leaves the strategy of the errand alone.
      - V(once) runs the errand once for each template. The strategy is C(done) afterwards.
      - 'Default for O(definition): the strategy that it has.'
    type: str
    choices: [manual, now, once]
  timeout:
    description:
      - Seconds to wait for the end of the run. The run continues in the cluster afterwards.
    type: float
    default: 600
  # Expert options.
  show_logs:
    description:
      - Whether to show the last lines of the container that failed, at most 50 lines and 64 KiB. They are in
        RV(logs). The message of the failed task has the last 10.
      - Values of the Secrets of the pod and of the output of the run are masked as C(***), from 6 characters
        on, also in base64, with escapes, and split over lines. Other secrets that a container prints are not.
      - No log is shown if these values are not all known, such as without the right to get these Secrets.
        Then RV(logs) says why.
      - The ClusterRoles of errands do not grant the rights for it. It needs to list C(pods), and to get
        C(pods/log) and C(secrets), in the namespace.
      - It has no effect with O(wait=false).
    type: bool
    default: false
    aliases: [logs]
  follow:
    description:
      - Whether to show the logs of all containers while the task waits for the end of the run, also of a run
        that succeeds. This needs O(show_logs=true), and ends with O(timeout).
      - Lines of a run with output are shown after its containers have ended, as its output is not known
        before that.
    type: bool
    default: false
  update_on_config_change:
    description:
      - Whether an errand that has run by C(once) runs again when the data of a ConfigMap or Secret changes to
        which its template refers.
    type: bool
  wait:
    description:
      - Whether to wait until the run has ended. The task fails if the run failed. It has no effect where
        nothing runs.
      - An errand with the strategy C(once) that has failed does not run again by itself. Then the task fails
        at each call, until the template changes or the errand is run by O(trigger=now).
      - With V(false) the task starts the run and ends. An engine, or M(kyma.lifecycle.reconcile_errands), has
        to collect the output.
    type: bool
    default: true
  reconcile:
    description:
      - Whether this task itself gets the errand on, for which it needs the ClusterRole
        C(kyma-lifecycle-errands-engine) in the namespace.
      - With V(false) an engine has to do it, and the task needs no more than
        C(kyma-lifecycle-errands-author). Both at once do no harm.
    type: bool
    default: true
  holder_image:
    description:
      - The image of the container that holds the output of another one until it is read. It needs C(sh),
        C(cat), C(head), C(rm), C(sha256sum), C(sleep), C(stat), C(test), C(timeout) and C(touch).
      - It counts only where O(reconcile=true).
    type: str
    default: docker.io/library/busybox:1.37
  refused_pod_seconds:
    description:
      - Seconds after which a run fails as C(PodRefused) if no pod can be created for it, such as by Pod
        Security or a webhook. It waits for any time for a quota that is used up.
      - It counts only where O(reconcile=true).
    type: float
    default: 600
  image_pull_seconds:
    description:
      - Seconds after which a run fails as C(ImagePullFailed) if an image of it can't be pulled. Its Job is
        deleted before that, so that it can't start any more.
      - It counts only where O(reconcile=true).
    type: float
    default: 600
  field_manager:
    description:
      - The name under which the fields of the errand are applied. Another name that manages the same fields
        is a conflict, so that two authors of one errand notice each other.
    type: str
    default: kyma-lifecycle/errand
  force_conflicts:
    description:
      - Whether to overwrite fields that other field managers own.
    type: bool
    default: false
notes:
  - A template is no place for secrets. All who may view the namespace read it, and the diff shows it. Refer
    to a Secret instead.
  - Who may create errands in a namespace can create pods there, with any ServiceAccount of the namespace.
seealso:
  - module: kyma.lifecycle.errand_info
  - module: kyma.lifecycle.reconcile_errands
  - module: kyma.lifecycle.versioned_secret
"""

EXAMPLES = r"""
- name: Create an errand that runs on request
  kyma.lifecycle.errand:
    name: backup
    namespace: shop
    template:
      spec:
        template:
          spec:
            containers:
              - name: backup
                image: registry.example.com/shop/backup:1.4
                args: [--all]

- name: Run it now, and wait for its end
  kyma.lifecycle.errand:
    name: backup
    namespace: shop
    trigger: now
    timeout: 3600
  register: backup

- name: Show how it went
  ansible.builtin.debug:
    msg: "run {{ backup.run }}: {{ backup.outcome }} after {{ backup.seconds }} s"

- name: Generate credentials once, as a versioned Secret
  kyma.lifecycle.errand:
    name: credentials
    namespace: shop
    trigger: once
    template:
      spec:
        template:
          spec:
            containers:
              - name: generate
                image: docker.io/library/busybox:1.37
                command: [sh, -c]
                args:
                  - printf '{"password":"%s"}' "$(head -c 24 /dev/urandom | base64)" > /mnt/quarks/output.json
    output:
      outputMap:
        generate:
          output.json:
            name: credentials
            versioned: true

- name: Run it, and show its log while it runs
  kyma.lifecycle.errand:
    name: backup
    namespace: shop
    trigger: now
    show_logs: true
    follow: true

- name: Take over a QuarksJob
  kyma.lifecycle.errand:
    namespace: shop
    definition: "{{ lookup('ansible.builtin.file', 'quarks-job.yaml') | from_yaml }}"

- name: Delete an errand with all its Secrets
  kyma.lifecycle.errand:
    name: credentials
    namespace: shop
    state: absent
"""

RETURN = r"""
namespace:
  description: The namespace of the errand.
  returned: always
  type: str
  sample: shop
name:
  description: The name of the errand.
  returned: always
  type: str
  sample: backup
run:
  description:
    - The number of the run that the task started, or that has run for what is wanted. V(0) if there is none.
  returned: O(state=present)
  type: int
  sample: 7
outcome:
  description:
    - How the run ended, such as V(Completed), V(ContainerFailed), V(DeadlineExceeded) or V(OutputInvalid).
      Empty before its end.
  returned: O(state=present)
  type: str
  sample: Completed
exit_code:
  description: The exit code of the container that failed, or V(0). None if it is not known.
  returned: O(state=present)
  type: int
  sample: 0
seconds:
  description: How long the run took. None before its end.
  returned: O(state=present)
  type: float
  sample: 12.0
secrets:
  description: The names of the Secrets that hold the output of the run.
  returned: O(state=present)
  type: list
  elements: str
  sample: [credentials-v3]
pruned:
  description:
    - The Secrets of old versions that the run has deleted, by name.
    - In check mode with O(trigger=now), those that it will delete if its output has changed.
  returned: O(state=present)
  type: list
  elements: str
  sample: [credentials-v1]
log_command:
  description: The command that shows the log of the run. Empty if there is none.
  returned: O(state=present)
  type: str
  sample: >-
    kubectl logs --namespace shop --selector
    lifecycle.kyma-project.io/errand=backup,lifecycle.kyma-project.io/run=7 --all-containers --prefix
    --tail=-1
logs:
  description: The log of the container that failed. Empty without O(show_logs=true), and if none failed.
  returned: O(state=present)
  type: list
  elements: dict
  contains:
    pod:
      description: The name of the pod.
      type: str
      sample: backup-7-x2k9v
    container:
      description: The name of the container.
      type: str
      sample: backup
    lines:
      description: The last lines, with values of Secrets masked.
      type: list
      elements: str
      sample: ["connecting as shop with ***", "disk full"]
    problem:
      description: Why there are no lines. Empty if there are.
      type: str
      sample: ""
durations:
  description:
    - How long the run took, as a row of durations. Empty if the task did not wait for its end.
    - The callback P(kyma.lifecycle.durations#callback) and the report collect these rows.
  returned: O(state=present)
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
errand:
  description: The errand, see RV(kyma.lifecycle.errand_info#module:errands). None if it is not there yet.
  returned: O(state=present)
  type: dict
  sample: {namespace: shop, name: backup, phase: Succeeded}
definition_installed:
  description: Whether the definition of C(Errand) was installed or updated, or would be in check mode.
  returned: O(state=present)
  type: bool
  sample: false
not_done:
  description: The definitions and roles that are not installed, as the task was stopped. Run it again.
  returned: if it was stopped
  type: list
  elements: str
  sample: [ClusterRole kyma-lifecycle-errands-viewer]
"""

from ansible_collections.kyma.lifecycle.plugins.module_utils._carrier.module_runner import run_module
from ansible_collections.kyma.lifecycle.plugins.module_utils._tasks.errand import DEFINITION


def main() -> None:
    """Run the module."""
    run_module(DEFINITION)


if __name__ == "__main__":
    main()
