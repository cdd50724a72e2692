# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The module kyma.lifecycle.stored_job."""

from __future__ import annotations

DOCUMENTATION = r"""
module: stored_job
short_description: Creates, updates, restarts, suspends and deletes jobs of the job store
version_added: "1.0.0"
author:
  - the kyma.lifecycle authors (@kyma-project)
description:
  - A stored job is a command that runs in a container. Its definition is a custom resource in its namespace,
    of the kind C(OneOffJob), C(ScheduledJob) or C(ContinuousJob). It runs as a Job, a CronJob or a
    Deployment.
  - The definition holds only the fields that were set. It is enough to build the runtime objects again.
  - The task validates all jobs before the first write, and refuses with all problems at once.
  - It writes the definition first, the runtime objects next and the status last. It updates runtime objects
    in place where Kubernetes allows that, and replaces them otherwise.
  - It also takes fields back that others have changed by hand. Replicas that an autoscaler has set stay.
  - A job that is only in Kubernetes gets its definition first, and counts in RV(counters). With
    O(kyma.lifecycle.job_store#module:unknown_jobs=ignore) it only counts.
  - The job store must be installed, see M(kyma.lifecycle.job_store).
  - The usual options are O(name), O(namespace), O(type), O(state), O(image), O(command), O(schedule), O(env),
    O(jobs) and O(prune). All other options are for experts.
extends_documentation_fragment:
  - kyma.lifecycle.connection
  - kyma.lifecycle.attributes
  - kyma.lifecycle.attributes.diff
attributes:
  check_mode:
    description:
      - Can run in C(check_mode) without changing anything.
      - The API server judges each write by a dry run, so the result also has what a quota or an admission
        webhook would refuse.
    support: full
options:
  # Usual options, in the order in which they are needed.
  name:
    description:
      - The name of the job, a DNS label of 52 characters at most. It is unique in the namespace among jobs of
        all types.
    type: str
  namespace:
    description:
      - The namespace of the job, or of the O(jobs) that name none.
    type: str
  type:
    description:
      - V(one-off) runs the job once, as a Job. V(scheduled) runs it by a schedule, as a CronJob.
        V(continuous) runs it all the time, as a Deployment, with a Service if it has a O(port).
      - Required for O(state=present). Another type than before replaces the runtime objects.
    type: str
    choices: [one-off, scheduled, continuous]
  state:
    description:
      - V(present) creates or updates the job. It does not run a one-off job again that has run, unless
        a field changes that concerns its run.
      - V(absent) deletes the definition and the runtime objects.
      - V(restarted) runs a one-off job again, runs a scheduled job now, or restarts the pods of a continuous
        job.
      - V(suspended) suspends the job. O(suspend=false) with O(state=present) resumes it.
    type: str
    choices: [present, absent, restarted, suspended]
    default: present
  image:
    description:
      - The image of the container. Required for O(state=present).
    type: str
  command:
    description:
      - One shell line, or a list with a program and its arguments, which no shell reads. Without it, the
        image's own entry point runs.
    type: raw
  schedule:
    description:
      - Five cron fields, or V(@hourly), V(@daily), V(@weekly), V(@monthly) or V(@yearly) (scheduled).
      - Namespace and name of the job decide the minute of such a word, so that not all jobs run at once.
    type: str
  env:
    description:
      - Environment variables of the container. A value is a text. Or it is a dictionary that says where the
        text comes from, with C(secretKeyRef) or another key of C(valueFrom) in Kubernetes.
      - A text may use another variable of the job by V($(NAME\)). The other one comes first, whatever the
        order here. Or use the list that Kubernetes has, whose order stays.
      - A text is no place for a secret. All who may view the namespace read it in the definition. Logs and
        diffs of Ansible show it. Refer to a Secret instead, also by C(envFrom) of O(container).
    type: raw
  jobs:
    description:
      - Jobs to manage, in place of one job. Each entry has C(name), C(type), the fields of the job under the
        names of the options of this module, and optionally C(namespace).
      - RV(kyma.lifecycle.stored_job_info#module:dump) has this format. Loading a dump changes nothing.
    type: list
    elements: dict
  prune:
    description:
      - Whether to delete the stored jobs of the namespaces of O(jobs) that O(jobs) does not name.
      - Jobs without a definition, and definitions that the task can't read, stay.
    type: bool
    default: false
  # Expert options.
  memory:
    description:
      - The memory that the job requests, which is also its limit, such as V(512Mi).
      - Its default does not count where O(requests) or O(limits) have memory. The same holds for O(cpu).
    type: str
  cpu:
    description:
      - The CPU that the job requests, which is also its limit, such as V(500m).
    type: str
  requests:
    description:
      - What the job requests, by resource, in place of O(memory) and O(cpu).
    type: dict
  limits:
    description:
      - The limits of the job, by resource, in place of O(memory) and O(cpu).
    type: dict
  mount:
    description:
      - A volume of the job. For several volumes, or other kinds of them, use O(volumes).
    type: dict
    suboptions:
      claim:
        description:
          - The name of a PersistentVolumeClaim in the namespace of the job.
        type: str
        required: true
      path:
        description:
          - The path of the volume in the container. Without it, C(/data).
        type: str
  volumes:
    description:
      - Volumes of the job. Each entry has a C(path) in the container, and one source, which is C(claim),
        C(secret) or C(config_map) with the name of an object, or C(empty_dir) with its size or V("").
      - A source may also be the dictionary that Kubernetes has for it. Then other sources of Kubernetes are
        possible, too, under their names there.
      - C(sub_path), C(read_only) and C(name) are optional. C(mount) has more fields of the mount, as
        Kubernetes has them, such as C(mountPropagation). An entry with a C(name), a C(path) and no source
        is one more mount of that volume. An entry without a C(path) is a volume for other containers.
    type: list
    elements: dict
  image_pull_secrets:
    description:
      - The names of Secrets with logins for registries.
    type: list
    elements: str
  retry:
    description:
      - How often Kubernetes tries a failed run again (one-off and scheduled).
    type: int
  timezone:
    description:
      - The time zone of the schedule, such as V(Europe/Berlin) (scheduled). Without it, that of the cluster.
    type: str
  suspend:
    description:
      - Whether the job is suspended. A suspended continuous job has no pods.
    type: bool
  timeout:
    description:
      - Seconds that a run may take (one-off and scheduled). V(0) is no limit.
    type: int
  replicas:
    description:
      - How many pods run (continuous).
    type: int
  port:
    description:
      - The port of the container that a Service of the job's name offers (continuous).
    type: int
  port_protocol:
    description:
      - The protocol of the O(port), V(TCP), V(UDP) or V(SCTP).
    type: str
  health_check:
    description:
      - How Kubernetes checks whether a continuous job works, by one of these suboptions. It makes a startup
        probe and a liveness probe. Other probes are fields of O(container), such
        as C(startupProbe).
    type: dict
    suboptions:
      script:
        description:
          - A shell line that exits with 0 while the job works.
        type: str
      path:
        description:
          - The path of an HTTP request to the O(port).
        type: str
      command:
        description:
          - A program and its arguments that exits with 0 while the job works.
        type: list
        elements: str
      tcp:
        description:
          - Whether the O(port) has to accept connections.
        type: bool
  logs:
    description:
      - Files in the container to which the command appends its output. Without one, the container's log has
        the output.
    type: dict
    suboptions:
      stdout:
        description:
          - The file for standard output, an absolute path.
        type: str
      stderr:
        description:
          - The file for standard error, an absolute path.
        type: str
      suffix:
        description:
          - The operator of redirections that end the shell line, as in jobs of version 1 of Toolforge, V(>>)
            or V(>). They concern only the last command of the line. Without it, redirections come first.
        type: str
  emails:
    description:
      - When to send an email, V(none), V(all), V(onfinish) or V(onfailure). The definition records it, and
        this collection sends none.
    type: str
  publish:
    description:
      - Whether Toolforge routes requests from outside to the job. The definition records it, and this
        collection routes none.
    type: bool
  store_labels:
    description:
      - Whether the runtime objects and their pods have the labels of the store. An import of objects without
        these labels sets V(false). A continuous job then needs a C(selector) in the C(spec) of O(workload).
    type: bool
  # Fields with values as Kubernetes has them.
  workload:
    description:
      - The CronJob or the Deployment, with C(metadata) and C(spec) as Kubernetes has them (scheduled and
        continuous).
      - This and O(job), O(pod), O(container) and O(service) are merged into what the other options say, as
        JSON merge patches (RFC 7386). A null removes what they set, and a list replaces a list. But a list of
        items with a C(name), such as C(containers), is merged by the names.
      - Fields that have an option of their own are refused here, and the message names the option. The API
        server validates the objects by a dry run before the first write, and refuses unknown fields.
    type: dict
  job:
    description:
      - The Job, or the C(jobTemplate) of a CronJob, with C(metadata) and C(spec) as Kubernetes has them
        (one-off and scheduled).
    type: dict
  pod:
    description:
      - The template of the pods, with C(metadata) and C(spec) as Kubernetes has them.
      - C(containers) in C(spec) are more containers, beside that of the job.
    type: dict
  container:
    description:
      - The container of the job, as Kubernetes has it. Its name is C(job), unless C(name) gives it another.
    type: dict
  service:
    description:
      - The Service, with C(metadata) and C(spec) as Kubernetes has them (continuous). A job without a O(port)
        has a Service if C(spec) has C(ports).
    type: dict
  on_failure:
    description:
      - What happens to the definition if the API server refuses the runtime objects, for example by a quota,
        or their pods, for example by Pod Security. The task waits up to 10 seconds for the first pods.
      - V(rollback) restores the previous definition and runtime objects, or deletes a new definition.
      - V(keep) keeps the new definition, with the failure in its status. The next call tries again.
    type: str
    choices: [rollback, keep]
    default: rollback
  show_logs:
    description:
      - Whether to show the last lines of the container of each job that failed, at most 50 lines and 64 KiB.
        They are in RV(logs), and the last 10 on the screen.
      - Values of the Secrets of the pod are masked as C(***), from 6 characters on, also in base64, with
        escapes, and split over lines. Other secrets that a container prints are not.
      - No log is shown if these values are not all known, such as without the right to get these Secrets.
        Then RV(logs) says why.
      - The ClusterRoles of the job store do not grant the rights for it. It needs to list C(pods), and to get
        C(pods/log) and C(secrets), in the namespace.
      - Output that O(logs) writes to files is in no log of a container.
    type: bool
    default: false
  follow:
    description:
      - Whether to wait for the end of the runs that the task has started, of one-off and of scheduled jobs,
        and to show the logs of their containers meanwhile. The task fails if such a run fails.
      - This needs O(show_logs=true), and ends with O(timeout) of the job or O(wait_timeout).
    type: bool
    default: false
  wait_timeout:
    description:
      - Seconds to wait for the deletion of a runtime object that must be replaced, and for the end of the
        runs with O(follow=true).
    type: float
    default: 120
  metrics_file:
    description:
      - The file that gets the counters, in the text format of Prometheus. The textfile collector of the node
        exporter reads such files if the name ends with C(.prom).
      - The task replaces the whole file. It writes C(jobs_only_in_kubernetes_total) and
        C(jobs_only_in_storage_total), each with the label C(namespace), for the namespaces that it has read.
      - In check mode the task does not write it.
    type: path
notes:
  - The user needs the rights of the ClusterRole C(kyma-lifecycle-job-store) in the namespace.
  - Users of a namespace may read definitions, and must not write them. Only these modules write them.
  - A definition of a newer storage version is read-only. Update this collection to change it.
seealso:
  - module: kyma.lifecycle.stored_job_info
  - module: kyma.lifecycle.stored_job_import
  - module: kyma.lifecycle.job_store
"""

EXAMPLES = r"""
- name: Run a backup every night
  kyma.lifecycle.stored_job:
    name: backup
    namespace: shop
    type: scheduled
    schedule: "@daily"
    image: registry.example.com/shop/backup:1.4
    command: backup --all
    retry: 2
    timeout: 3600

- name: Run a web server with a Service and a volume
  kyma.lifecycle.stored_job:
    name: web
    namespace: shop
    type: continuous
    image: registry.example.com/shop/web:2.0
    port: 8080
    health_check:
      path: /healthz
    mount:
      claim: web-data
    pod:
      spec:
        priorityClassName: high
    service:
      spec:
        sessionAffinity: ClientIP

- name: Run a program with a password from a Secret, its configuration and a directory for files
  kyma.lifecycle.stored_job:
    name: sync
    namespace: shop
    type: scheduled
    schedule: "*/10 * * * *"
    image: registry.example.com/shop/sync:3.1
    command: [sync, --once]
    env:
      PASSWORD:
        secretKeyRef: {name: database, key: password}
    requests: {cpu: 100m, memory: 128Mi}
    limits: {memory: 512Mi}
    volumes:
      - config_map: sync-rules
        path: /etc/sync
        read_only: true
      - empty_dir: 1Gi
        path: /tmp
    workload:
      spec:
        concurrencyPolicy: Replace
    pod:
      spec:
        serviceAccountName: sync
    container:
      envFrom:
        - configMapRef: {name: sync}

- name: Run the backup now
  kyma.lifecycle.stored_job:
    name: backup
    namespace: shop
    state: restarted

- name: Run it now, and show its log until it ends
  kyma.lifecycle.stored_job:
    name: backup
    namespace: shop
    state: restarted
    show_logs: true
    follow: true
    wait_timeout: 3600

- name: Load a list of jobs, and delete all other stored jobs of the namespace
  kyma.lifecycle.stored_job:
    namespace: shop
    jobs: "{{ lookup('ansible.builtin.file', 'jobs.yaml') | from_yaml }}"
    prune: true
  register: loaded

- name: Show one line for each job
  ansible.builtin.debug:
    var: loaded.lines
"""

RETURN = r"""
jobs:
  description: The result for each job, in the order of O(jobs). Jobs that were pruned follow.
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
    action:
      description:
        - V(created), V(updated), V(replaced), V(unchanged), V(deleted), V(restarted), V(suspended) or
          V(refused). A job is V(replaced) if its Deployment was deleted and created again. In check mode,
          what would happen.
      type: str
      sample: updated
    changed:
      description: Whether the task changed the job, or would in check mode.
      type: bool
      sample: true
    message:
      description: What was written, or why the job was refused, or why its pods can't run. May be empty.
      type: str
      sample: updated Deployment shop/web
    reason:
      description:
        - A word for a refusal, such as V(OutOfQuota) if a quota refuses the runtime objects or their pods, or
          V(PodsRefused) if anything else refuses the pods. Empty if nothing was refused.
      type: str
      sample: ""
lines:
  description: One line for each job, for people.
  returned: success
  type: list
  elements: str
  sample: ["shop/backup: updated", "shop/web: up to date"]
logs:
  description:
    - The logs of the containers that failed, one for each job. Empty without O(show_logs=true), and if none
      failed.
  returned: success
  type: list
  elements: dict
  contains:
    namespace:
      description: The namespace.
      type: str
      sample: shop
    name:
      description: The name of the job.
      type: str
      sample: backup
    pod:
      description: The name of the pod.
      type: str
      sample: backup-x2k9v
    container:
      description: The name of the container.
      type: str
      sample: job
    lines:
      description: The last lines, with values of Secrets masked.
      type: list
      elements: str
      sample: ["connecting as shop with ***", "disk full"]
    problem:
      description: Why there are no lines. Empty if there are.
      type: str
      sample: ""
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
from ansible_collections.kyma.lifecycle.plugins.module_utils._tasks.stored_job import DEFINITION


def main() -> None:
    """Run the module."""
    run_module(DEFINITION)


if __name__ == "__main__":
    main()
