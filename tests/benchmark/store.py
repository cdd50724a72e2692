# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The job store: imports of many jobs, lists and drift, each in one task."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from statistics import median
from typing import Any

from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.connection import connect
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.live_cluster import (
    PAGE_ITEMS,
    LiveCluster,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.storage.definition import (
    DEFINITION_KINDS,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._store.counters import COUNTER_KIND
from ansible_collections.kyma.lifecycle.plugins.module_utils._store.store_kinds import (
    STORE_KINDS,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._threads import (
    REQUESTS_AT_ONCE,
    map_in_threads,
)

from tests.cluster.console import say

from .bounds import MB
from .measurements import Figure, Measurements, Sample
from .names import PING, STORE
from .running import ANSIBLE_PLAYBOOK, Cluster, Place, eventually
from .tools.ours import AGENT, PING_PLAYBOOK

SPACES, JOBS = 500, 5000
"""How many namespaces and jobs there are."""
DRIFTED = 50
"""How many Deployments others change before drift is read."""
ROUNDS = 5
READS = 3
"""What a task reads beside its lists: two documents of discovery, and the switches."""
READS_OF_IMPORT = READS + 2
"""Discovery once more, as a cluster may serve Toolforge's custom resources by then."""
TRIALS = 5 + 2 * REQUESTS_AT_ONCE
"""Dry runs of objects with different forms; some are tried by several threads at the same moment."""
PEAK = 300.0
PATIENCE = 240.0

JOB, CRON_JOB, DEPLOYMENT = ("batch/v1", "Job"), ("batch/v1", "CronJob"), ("apps/v1", "Deployment")
SERVICE = ("v1", "Service")
LISTED = (JOB, CRON_JOB, DEPLOYMENT, SERVICE, *DEFINITION_KINDS.values(), COUNTER_KIND)
"""The kinds that each task lists."""
IN_EACH_SPACE = (*(JOB,) * 4, *(CRON_JOB,) * 3, *(DEPLOYMENT,) * 3)
"""The kinds of the jobs of a namespace; the last one has a Service."""
LAST = len(IN_EACH_SPACE) - 1
Object = dict[str, Any]


@dataclass(frozen=True)
class Work:
    """A measured task.

    Attributes:
        name: of it, in the table.
        code: in YAML: the module with its options.
        failed: a condition in Jinja on its result `found`: whether the task has failed its purpose.
        others: how many requests it may need in addition to its lists.
    """

    name: str
    code: str
    failed: str
    others: int = READS

    @property
    def playbook(self) -> str:
        """A playbook of this task."""
        # A task that has failed has no other results.
        failed = f"found.msg is defined or {self.failed}"
        task = f"    - {self.code}\n      register: found\n      failed_when: {failed}\n"
        return PING_PLAYBOOK.replace("    - ansible.builtin.ping:\n", task)


IMPORT = "kyma.lifecycle.stored_job_import:"
INFO = "kyma.lifecycle.stored_job_info:"
FIRST_IMPORT = Work(
    "first import",
    IMPORT,
    f"found.imported | length != {JOBS} or found.unreadable | length > 0",
    # The metadata of all jobs once more, as they may be deleted meanwhile; dry runs; a definition and its
    # status for each job, and a counter for each namespace.
    others=READS_OF_IMPORT + len(set(IN_EACH_SPACE)) + TRIALS + 2 * JOBS + SPACES,
)
SECOND_IMPORT = Work(
    "second import", IMPORT, f"found is changed or found.unchanged != {JOBS}", others=READS_OF_IMPORT
)
LIST = Work(
    "list", INFO, f"found.counts.jobs != {JOBS} or found.counts.drifted > 0 or found.counts.adoptable > 0"
)
DRIFT = Work("drift", f"{INFO} {{drift: true}}", f"found.counts.drifted != {DRIFTED}")


def measure_store(place: Place, measurements: Measurements, most: int | None = None) -> None:
    """Measure the tasks of the job store on their own cluster.

    Args:
        place: where to work.
        measurements: gets the figures.
        most: at most so many rounds of each task. The first import has only one.

    Raises:
        BenchmarkError: something failed.
    """
    rounds = min(most or ROUNDS, ROUNDS)
    say("the job store:")
    with place.cluster() as cluster:
        trial = _Trial(place, cluster, measurements)
        trial.create_jobs()
        trial.measure(FIRST_IMPORT, 1)
        trial.measure(SECOND_IMPORT, rounds)
        trial.measure(LIST, rounds)
        trial.change_jobs()
        trial.measure(DRIFT, rounds)


class _Trial:
    """The measurements on one cluster."""

    def __init__(self, place: Place, cluster: Cluster, measurements: Measurements) -> None:
        self._place = place
        self._cluster = cluster
        self._measurements = measurements
        self._api: LiveCluster = connect({"kubeconfig": str(cluster.kubeconfig)}, field_manager="by-hand")

    def create_jobs(self) -> None:
        """Create the namespaces with their jobs, and wait until controllers have seen all of them."""
        STORE_KINDS.install(self._api)
        names = [_space(number) for number in range(SPACES)]
        map_in_threads(self._api.create, [_namespace(name) for name in names])
        map_in_threads(self._api.create, [obj for name in names for obj in jobs_of(name)])
        eventually(self._are_seen, "Controllers have not seen all jobs", PATIENCE)

    def change_jobs(self) -> None:
        """Change the image of some Deployments by hand."""
        container = {**_container(job_name(LAST)), "image": "example.com/job:2.0.0"}
        image = {"spec": {"template": {"spec": {"containers": [container]}}}}
        for number in range(DRIFTED):
            self._api.patch(*DEPLOYMENT, job_name(LAST), _space(number), image)

    def measure(self, work: Work, rounds: int) -> None:
        """Run a task some times, with a ping after each."""
        playbook, ping = self._written("work.yml", work.playbook), self._written("ping.yml", PING_PLAYBOOK)
        limit = list_requests(self._counts()) + work.others
        samples, pings = [], []
        for _round in range(rounds):
            samples.append(self._place.run([ANSIBLE_PLAYBOOK, playbook], self._cluster, AGENT).sample)
            pings.append(self._place.run([ANSIBLE_PLAYBOOK, ping], self._cluster).sample)
        self._measurements.figures += figures_of(work, samples, pings, limit)
        one = samples[-1]
        say(f"  {work.name}: {one.seconds:.2f} s, {one.requests} of {limit} requests, {one.peak / MB:.0f} MB")

    def _written(self, name: str, text: str) -> str:
        file = self._place.folder / name
        file.write_text(text, encoding="utf-8")
        return str(file)

    def _counts(self) -> Mapping[tuple[str, str], int]:
        return {kind: len(self._api.list(*kind).items) for kind in LISTED}

    def _are_seen(self) -> bool:
        deployments, jobs = self._api.list(*DEPLOYMENT).items, self._api.list(*JOB).items
        return all("observedGeneration" in one["status"] for one in deployments) and all(
            one["status"].get("conditions") for one in jobs
        )


def figures_of(work: Work, samples: list[Sample], pings: list[Sample], limit: int) -> Iterator[Figure]:
    """The result of a task: median times, and the highest memory and number of requests."""
    what = f"{work.name} of {JOBS:,} jobs in {SPACES} namespaces"
    seconds = median(one.seconds for one in samples)
    ratio = seconds / median(one.seconds for one in pings)
    yield Figure(f"time of the {what}", seconds, "s", part=STORE)
    yield Figure(f"time of the {what}, times {PING}", ratio, part=STORE)
    yield Figure(f"requests of the {what}", max(one.requests for one in samples), "", limit, part=STORE)
    yield Figure(f"memory of the {what}", max(one.peak for one in samples) / MB, "MB", PEAK, part=STORE)


def list_requests(counts: Mapping[tuple[str, str], int]) -> int:
    """The number of requests to list each kind once, page by page, by its number of objects."""
    return sum(max(1, math.ceil(count / PAGE_ITEMS)) for count in counts.values())


def jobs_of(namespace: str) -> Iterator[Object]:
    """Handmade jobs of all types, none of which runs a pod."""
    for number, kind in enumerate(IN_EACH_SPACE):
        yield _object(kind, namespace, job_name(number), _spec(kind, job_name(number)))
    spec = {"selector": {"app": job_name(LAST)}, "ports": [{"port": 8080}]}
    yield _object(SERVICE, namespace, job_name(LAST), spec)


def job_name(number: int) -> str:
    """The name of one of the jobs of a namespace."""
    return f"job-{number}"


def _object(kind: tuple[str, str], namespace: str, name: str, spec: Object) -> Object:
    metadata = {"name": name, "namespace": namespace, "labels": {"app": name}}
    return {"apiVersion": kind[0], "kind": kind[1], "metadata": metadata, "spec": spec}


def _spec(kind: tuple[str, str], name: str) -> Object:
    labels = {"app": name}
    pod: Object = {"metadata": {"labels": labels}, "spec": {"containers": [_container(name)]}}
    if kind == DEPLOYMENT:
        return {"replicas": 0, "selector": {"matchLabels": labels}, "template": pod}
    pod["spec"]["restartPolicy"] = "Never"
    if kind == JOB:
        return {"suspend": True, "backoffLimit": 2, "template": pod}
    return {"suspend": True, "schedule": "17 3 * * *", "jobTemplate": {"spec": {"template": pod}}}


def _container(name: str) -> Object:
    resources = {"cpu": "250m", "memory": "256Mi"}
    return {
        "name": "main",
        "image": "example.com/job:1.0.0",
        "command": ["/bin/sh", "-c", "exec ./work --all"],
        "env": [
            {"name": "LEVEL", "value": "info"},
            {"name": "TARGET", "value": f"https://example.com/{name}"},
        ],
        "resources": {"limits": resources, "requests": resources},
    }


def _namespace(name: str) -> Object:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


def _space(number: int) -> str:
    return f"store-{number:03}"
