# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Job controller, kubelet and holding containers for a cluster in memory: time passes when a test says so."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any

from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import (
    Cluster,
    Event,
    ExecResult,
    Object,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import api_error
from ansible_collections.kyma.lifecycle.plugins.module_utils._deep_copy import deep_copy
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.holding_container import (
    GIVEN_UP,
    IRREGULAR,
    LARGEST_FILE,
    MISSING,
    OUTPUT_FOLDER,
    READ_SCRIPT,
    RELEASE_COMMAND,
    RENEW_COMMAND,
    TOO_LARGE,
    UNREADABLE,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._timestamp import timestamp
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.memory_cluster import (
    MemoryCluster,
)

JOB, POD = ("batch/v1", "Job"), ("v1", "Pod")
TRACKING = "batch.kubernetes.io/job-tracking"
"""The finalizer by which the Job controller sees how each pod ends."""
HELD = "/output"
TERMINATED, KILLED = 143, 137
"""Exit codes after the signals TERM and KILL."""


class OddFile(StrEnum):
    """An output that is not a regular file, or can't be read."""

    LINK = "link"
    PIPE = "pipe"
    UNREADABLE = "unreadable"


@dataclass(frozen=True)
class ContainerRun:
    """How a container runs.

    Attributes:
        exit_code: at its end; None if it does not end.
        files: that it writes to the output folder.
        message: its termination message.
    """

    exit_code: int | None = 0
    files: Mapping[str, bytes | OddFile] = field(default_factory=dict)
    message: str = ""


class PlayedTime:
    """The real time plus the time that a test has added."""

    def __init__(self) -> None:
        self._added = timedelta()

    def now(self) -> datetime:
        """The moment."""
        return datetime.now(UTC) + self._added

    def advance(self, seconds: float) -> None:
        """Let seconds pass."""
        self._added += timedelta(seconds=seconds)


class PlayedJobs:
    """Plays the handling of Jobs in a cluster, as kubelet 1.36 and its Job controller do it.

    The Job controller acts on every write. Containers progress only with :meth:`tick`. A pod starts with the
    first one, and with the second one its containers end as in :attr:`runs`. The cluster neither records nor
    fails any of its calls.

    Attributes:
        runs: how containers run, by name; others do not end.
        blocked: containers that can't start, with the reason; one that is removed starts at the next tick.
        injected: containers that a webhook adds to each pod.
        refusal: why no pod can be created; empty if they can.
        sees_deletions: whether the kubelet has learnt of the deletion of pods.
        made: the Jobs that were ever created, as (name, uid), in their order.
        started: the pods whose containers were ever started, by name.
        reads: how often files were read in a holding container.
    """

    def __init__(self, cluster: MemoryCluster, time: PlayedTime | None = None) -> None:
        self.time = time or PlayedTime()
        self.runs: dict[str, ContainerRun] = {}
        self.blocked: dict[str, str] = {}
        self.injected: list[Object] = []
        self.refusal = ""
        self.sees_deletions = True
        self.made: list[tuple[str, str]] = []
        self.started: list[str] = []
        self.reads = 0
        self._files: dict[tuple[str, str], dict[str, bytes | OddFile]] = {}
        self._counted: dict[tuple[str, str], datetime] = {}
        self._released: set[tuple[str, str]] = set()
        self._dying: set[str] = set()
        self._own: Cluster | None = None
        cluster.on_write(self._react)
        cluster.on_exec(self._exec)

    # Events that a test causes.

    def tick(self) -> bool:
        """Advance every pod and every deadline by one step; return whether anything changed."""
        if self._own is None:
            return False
        before = (self._own.list(*POD).resource_version, len(self._dying))
        for job in self._own.list(*JOB).items:
            self._see_to_deadline(job)
        for pod in self._own.list(*POD).items:
            self._run_pod(pod)
        return (self._own.list(*POD).resource_version, len(self._dying)) != before

    def evict(self, pod: Object, reason: str = "EvictionByEvictionAPI") -> None:
        """Evict a pod by the API: it is marked as disrupted, and deleted."""
        condition = {"type": "DisruptionTarget", "status": "True", "reason": reason, "message": "evicted"}
        self._patch_status(POD, pod, {"conditions": [{**condition, "lastTransitionTime": self._now()}]})
        self._cluster.delete(*POD, pod["metadata"]["name"], pod["metadata"]["namespace"])

    def evict_by_node(self, pod: Object) -> None:
        """Let the kubelet evict a pod: its containers are killed, and it stays as failed."""
        condition = {"type": "DisruptionTarget", "status": "True", "reason": "TerminationByKubelet"}
        statuses = [self._ended(one, KILLED) for one in _statuses(pod)]
        change = {
            "phase": "Failed",
            "reason": "Evicted",
            "message": "The node was low on resource: memory.",
            "conditions": [{**condition, "lastTransitionTime": self._now()}],
            "containerStatuses": statuses,
        }
        self._patch_status(POD, pod, change)

    # The Job controller.

    @property
    def _cluster(self) -> Cluster:
        assert self._own is not None
        return self._own

    def _now(self) -> str:
        return timestamp(self.time.now())

    def _react(self, cluster: Cluster, event: Event) -> None:
        self._own = cluster
        kind = (event.object["apiVersion"], event.object["kind"])
        if kind == JOB and event.type == "ADDED":
            meta = event.object["metadata"]
            self.made.append((meta["name"], meta["uid"]))
        if kind == JOB and event.type != "DELETED":
            self._sync(event.object["metadata"]["namespace"], event.object["metadata"]["name"])
        elif kind == JOB:
            for pod in self._pods_of(event.object):
                self._let_go(pod)
        elif kind == POD and event.type != "DELETED":
            owner: Object = next(iter(event.object["metadata"].get("ownerReferences") or ()), {})
            if owner.get("kind") == "Job":
                self._sync(event.object["metadata"]["namespace"], owner["name"])
            self._let_go(event.object)

    def _pods_of(self, job: Object) -> list[Object]:
        uid = job["metadata"]["uid"]
        pods = self._cluster.list(*POD, job["metadata"]["namespace"]).items
        return [
            pod for pod in pods if pod["metadata"]["labels"].get("batch.kubernetes.io/controller-uid") == uid
        ]

    def _sync(self, namespace: str, name: str) -> None:
        job = self._cluster.get(*JOB, name, namespace)
        if job is None or job["metadata"].get("deletionTimestamp") or _has(job, "Complete", "Failed"):
            return
        pods = self._pods_of(job)
        active = [pod for pod in pods if _phase(pod) not in ("Succeeded", "Failed")]
        if job["spec"].get("suspend"):
            self._suspend(job, active)
        elif _has(job, "FailureTarget"):
            if not active:
                self._fail(job)
        elif any(_phase(pod) == "Succeeded" for pod in pods):
            now = self._now()
            self._add_conditions(job, "SuccessCriteriaMet", "Complete", completionTime=now, succeeded=1)
        elif any(_phase(pod) == "Failed" or pod["metadata"].get("deletionTimestamp") for pod in pods):
            if not _has(job, "Suspended"):
                text = "Job has reached the specified backoff limit"
                self._add_conditions(job, "FailureTarget", reason="BackoffLimitExceeded", message=text)
        elif not pods:
            self._start(job)

    def _suspend(self, job: Object, active: Sequence[Object]) -> None:
        for pod in active:
            self._cluster.delete(*POD, pod["metadata"]["name"], pod["metadata"]["namespace"])
        if not _has(job, "Suspended"):
            suspended = {"type": "Suspended", "status": "True", "reason": "JobSuspended"}
            self._patch_status(JOB, job, {"conditions": [suspended], "startTime": None})

    def _start(self, job: Object) -> None:
        meta, template = job["metadata"], deep_copy(job["spec"]["template"])
        if not (job.get("status") or {}).get("startTime"):
            self._patch_status(JOB, job, {"conditions": None, "startTime": self._now()})
        if self.refusal:
            self._note_refusal(job)
            return
        given = template.get("metadata") or {}
        labels = {
            **(given.get("labels") or {}),
            "batch.kubernetes.io/controller-uid": meta["uid"],
            "batch.kubernetes.io/job-name": meta["name"],
            "controller-uid": meta["uid"],
            "job-name": meta["name"],
        }
        owner = {"apiVersion": "batch/v1", "kind": "Job", "name": meta["name"], "uid": meta["uid"]}
        spec = template["spec"]
        spec["containers"] = [*spec["containers"], *deep_copy(self.injected)]
        # Two Jobs of one name never have pods of one name.
        digest = hashlib.sha256(meta["uid"].encode()).hexdigest()[:5]
        pod = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "name": f"{meta['name']}-{digest}",
                "namespace": meta["namespace"],
                "labels": labels,
                "annotations": given.get("annotations") or {},
                "finalizers": [TRACKING],
                "ownerReferences": [{**owner, "controller": True, "blockOwnerDeletion": True}],
            },
            "spec": spec,
        }
        created = self._cluster.create(pod)
        self._patch_status(POD, created, {"phase": "Pending"})

    def _note_refusal(self, job: Object) -> None:
        meta = job["metadata"]
        event = {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"generateName": f"{meta['name']}.", "namespace": meta["namespace"]},
            "involvedObject": {"kind": "Job", "name": meta["name"], "uid": meta["uid"]},
            "reason": "FailedCreate",
            "message": f"Error creating: {self.refusal}",
            "firstTimestamp": self._now(),
            "lastTimestamp": self._now(),
        }
        self._cluster.create(event)

    def _fail(self, job: Object) -> None:
        target = next(one for one in job["status"]["conditions"] if one["type"] == "FailureTarget")
        text = {"reason": target["reason"], "message": target["message"]}
        self._add_conditions(job, "Failed", failed=1, **text)

    def _see_to_deadline(self, job: Object) -> None:
        seconds = job["spec"].get("activeDeadlineSeconds")
        started = (job.get("status") or {}).get("startTime")
        if not seconds or not started or _has(job, "Complete", "Failed", "FailureTarget"):
            return
        if datetime.fromisoformat(started) + timedelta(seconds=seconds) > self.time.now():
            return
        text = "Job was active longer than specified deadline"
        self._add_conditions(job, "FailureTarget", reason="DeadlineExceeded", message=text)
        for pod in self._pods_of(job):
            if _phase(pod) not in ("Succeeded", "Failed"):
                self._cluster.delete(*POD, pod["metadata"]["name"], pod["metadata"]["namespace"])
        self._sync(job["metadata"]["namespace"], job["metadata"]["name"])

    def _let_go(self, pod: Object) -> None:
        """Remove the finalizer from a pod whose end is counted, or whose Job is gone."""
        meta = pod["metadata"]
        live = self._cluster.get(*POD, meta["name"], meta["namespace"])
        if live is None or TRACKING not in (live["metadata"].get("finalizers") or ()):
            return
        if _phase(live) in ("Succeeded", "Failed"):
            self._cluster.patch(*POD, meta["name"], meta["namespace"], {"metadata": {"finalizers": None}})

    def _add_conditions(
        self, job: Object, *types: str, reason: str = "", message: str = "", **more: Any
    ) -> None:
        now = self._now()
        conditions = list((job.get("status") or {}).get("conditions") or ())
        conditions += [
            {
                "type": one,
                "status": "True",
                "reason": reason or "CompletionsReached",
                "message": message,
                "lastTransitionTime": now,
            }
            for one in types
        ]
        self._patch_status(JOB, job, {"conditions": conditions, **more})

    def _patch_status(self, kind: tuple[str, str], obj: Object, status: Mapping[str, Any]) -> None:
        meta = obj["metadata"]
        self._cluster.patch(
            *kind, meta["name"], meta["namespace"], {"status": dict(status)}, subresource="status"
        )

    # The kubelet.

    def _run_pod(self, pod: Object) -> None:
        if _phase(pod) in ("Succeeded", "Failed"):
            return
        if pod["metadata"].get("deletionTimestamp") and self.sees_deletions:
            self._kill(pod)
        elif not _statuses(pod):
            self._start_pod(pod)
        else:
            self._run_containers(pod)

    def _start_pod(self, pod: Object) -> None:
        self.started.append(pod["metadata"]["name"])
        statuses = []
        for container in pod["spec"]["containers"]:
            state: Object = {"running": {"startedAt": self._now()}}
            if container["name"] in self.blocked:
                state = {"waiting": {"reason": self.blocked[container["name"]], "message": "no such image"}}
            statuses.append({"name": container["name"], "state": state})
        phase = "Pending" if any("waiting" in one["state"] for one in statuses) else "Running"
        change = {"phase": phase, "startTime": self._now(), "containerStatuses": statuses}
        self._patch_status(POD, pod, change)

    def _run_containers(self, pod: Object) -> None:
        statuses = []
        for one in _statuses(pod):
            if "waiting" in one["state"] and one["name"] not in self.blocked:
                statuses.append({**one, "state": {"running": {"startedAt": self._now()}}})
                continue
            if "running" not in one["state"]:
                statuses.append(one)
                continue
            code, message = self._end_of(pod, one["name"])
            statuses.append(one if code is None else self._ended(one, code, message))
        self._note_containers(pod, statuses)

    def _end_of(self, pod: Object, name: str) -> tuple[int | None, str]:
        uid = pod["metadata"]["uid"]
        source = _held_container(pod, name)
        if source is None:
            run = self.runs.get(name, ContainerRun(None))
            if run.files and (uid, name) not in self._files:
                self._files[uid, name] = dict(run.files)
                self._counted[uid, name] = self.time.now()
            return run.exit_code, run.message
        if (uid, name) in self._released:
            return 0, ""
        since = self._counted.get((uid, source))
        container = next(one for one in pod["spec"]["containers"] if one["name"] == name)
        seconds = int(container["command"][4])
        is_over = since is not None and (self.time.now() - since).total_seconds() > seconds
        return (GIVEN_UP if is_over else None), ""

    def _kill(self, pod: Object) -> None:
        """End a deleted pod: a holding container ignores TERM, and is killed after the grace period.

        The kubelet does not report how a container ends meanwhile until all of them have ended.
        """
        uid = pod["metadata"]["uid"]
        statuses = []
        for one in _statuses(pod):
            is_holder = _held_container(pod, one["name"]) is not None
            if "terminated" in one["state"]:
                statuses.append(one)
            elif is_holder and (uid, one["name"]) in self._released:
                statuses.append(self._ended(one, 0))
            elif is_holder and uid not in self._dying:
                statuses.append(one)
            else:
                statuses.append(self._ended(one, KILLED if is_holder else TERMINATED))
        self._dying.add(uid)
        if any("terminated" not in one["state"] for one in statuses):
            return
        if not statuses:
            self._patch_status(POD, pod, {"phase": "Failed"})
            return
        self._note_containers(pod, statuses)

    def _note_containers(self, pod: Object, statuses: list[Object]) -> None:
        change: Object = {"containerStatuses": statuses}
        codes = [(one["state"].get("terminated") or {}).get("exitCode") for one in statuses]
        if None not in codes:
            change["phase"] = "Failed" if any(codes) else "Succeeded"
        if statuses != _statuses(pod):
            self._patch_status(POD, pod, change)

    def _ended(self, status: Mapping[str, Any], code: int, message: str = "") -> Object:
        end: Object = {
            "exitCode": code,
            "reason": "Error" if code else "Completed",
            "startedAt": (status["state"].get("running") or {}).get("startedAt"),
            "finishedAt": self._now(),
        }
        if message:
            end["message"] = message[:4096]
        return {"name": status["name"], "state": {"terminated": end}}

    # Commands in holding containers.

    def _exec(self, name: str, namespace: str, command: Sequence[str], container: str | None) -> ExecResult:
        pod = self._cluster.get(*POD, name, namespace)
        assert pod is not None
        states = {one["name"]: one["state"] for one in _statuses(pod)}
        if "running" not in states.get(container or "", {}):
            message = f'container not found ("{container}")'
            raise api_error(f"run a command in Pod {namespace}/{name}", 500, {"message": message})
        source = _held_container(pod, container or "")
        assert source is not None
        uid = pod["metadata"]["uid"]
        if list(command) == RELEASE_COMMAND:
            self._released.add((uid, container or ""))
            return ExecResult(b"", b"", 0)
        if list(command) == RENEW_COMMAND:
            self._counted[uid, source] = self.time.now()
            return ExecResult(b"", b"", 0)
        assert list(command[:4]) == ["sh", "-c", READ_SCRIPT, "read"]
        self.reads += 1
        files = self._files.get((uid, source), {})
        answer = b""
        for file in command[4:]:
            one = read_answer(files.get(file))
            answer += one.stdout
            if one.exit_code:
                return ExecResult(answer, b"", one.exit_code)
        return ExecResult(answer, b"", 0)


def read_answer(content: bytes | OddFile | None) -> ExecResult:
    """The answer of the command that reads an output file; None if there is no file."""
    code = 0
    if content is None:
        code = MISSING
    elif content is OddFile.UNREADABLE:
        code = UNREADABLE
    elif isinstance(content, OddFile):
        code = IRREGULAR
    elif len(content) > LARGEST_FILE:
        code = TOO_LARGE
    if code or not isinstance(content, bytes):
        return ExecResult(b"", b"", code)
    header = f"{len(content)} {hashlib.sha256(content).hexdigest()}\n"
    return ExecResult(header.encode() + content, b"", 0)


def _held_container(pod: Mapping[str, Any], name: str) -> str | None:
    """The container whose output another one holds; None if that one holds none."""
    containers = pod["spec"]["containers"]
    mounts = {one["name"]: one.get("volumeMounts") or [] for one in containers}
    held = next((one["name"] for one in mounts.get(name, ()) if one["mountPath"] == HELD), None)
    if held is None:
        return None
    sources = [
        str(other)
        for other, its_mounts in mounts.items()
        if any((one["name"], one["mountPath"]) == (held, OUTPUT_FOLDER) for one in its_mounts)
    ]
    return sources[0]


def _statuses(pod: Mapping[str, Any]) -> list[Object]:
    return list((pod.get("status") or {}).get("containerStatuses") or ())


def _phase(pod: Mapping[str, Any]) -> str:
    return str((pod.get("status") or {}).get("phase") or "")


def _has(job: Mapping[str, Any], *types: str) -> bool:
    conditions = (job.get("status") or {}).get("conditions") or ()
    return any(one["status"] == "True" and one["type"] in types for one in conditions)
