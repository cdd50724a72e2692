# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs jobs again."""

from __future__ import annotations

import time

from ..._cluster.cluster import Cluster, Object, address_of, ref_of
from ..._cluster.owner_references import is_owned_by
from ..._cluster.pod_templates import job_template
from ..._errors import LifecycleError
from ..._job_models.core_job import JobType
from ..._job_models.runtime.normal_form import RESTARTED_AT
from ..._job_models.runtime.runtime_objects import KINDS_OF
from ..._jobs.job_outcome import has_ended
from ..._jobs.job_template import controller_reference
from ..._loose_json import mapping_of
from ..._timestamp import timestamp
from .deletion_wait import DeletionWait

JOB = KINDS_OF[JobType.ONE_OFF][0]
INSTANTIATE = "cronjob.kubernetes.io/instantiate"
"""The annotation of a Job that was created from a CronJob by hand, as kubectl sets it."""


def restart_pods(cluster: Cluster, deployment: Object) -> None:
    """Restart the pods of a Deployment one after the other, as ``kubectl rollout restart`` does."""
    annotations = {RESTARTED_AT: timestamp()}
    # Nothing else is changed, so the resourceVersion does not matter.
    patch = {
        "metadata": {"uid": deployment["metadata"]["uid"]},
        "spec": {"template": {"metadata": {"annotations": annotations}}},
    }
    cluster.patch(*address_of(deployment), patch)


def start_job_now(cluster: Cluster, cron_job: Object, wait: DeletionWait) -> Object:
    """Create a Job from a CronJob now. It first deletes Jobs of it that still run.

    Args:
        cluster: where to write.
        cron_job: as it is in the cluster.
        wait: how to wait until the deleted Jobs are gone.
    """
    job = run_of(cron_job, int(time.time() // 60))
    name, namespace = job["metadata"]["name"], job["metadata"]["namespace"]
    old = [
        one
        for one in cluster.list(*JOB, namespace).items
        if is_owned_by(one, cron_job["metadata"]["uid"])
        and (not has_ended(one) or one["metadata"]["name"] == name)
    ]
    for one in old:
        cluster.delete(*address_of(one), uid=one["metadata"]["uid"], propagation="Foreground")
    if not wait.is_over(cluster, old):
        listed = ", ".join(str(ref_of(one)) for one in old)
        raise LifecycleError(
            f"Runs are still there {wait.seconds:g} s after their deletion: {listed}. Run this again."
        )
    return cluster.create(job)


def run_of(cron_job: Object, minute: int) -> Object:
    """The Job of a run of a CronJob that does not wait for its schedule.

    Args:
        cron_job: as it is in the cluster.
        minute: of the run, since 1970; the name of the Job ends with it.
    """
    meta, template = cron_job["metadata"], job_template(cron_job)
    metadata = mapping_of(template.get("metadata"))
    return {
        "apiVersion": JOB[0],
        "kind": JOB[1],
        "metadata": {
            "name": f"{meta['name']}-{minute}",
            "namespace": meta["namespace"],
            "labels": dict(mapping_of(metadata.get("labels"))),
            "annotations": {**mapping_of(metadata.get("annotations")), INSTANTIATE: "manual"},
            "ownerReferences": [controller_reference(cron_job)],
        },
        "spec": dict(mapping_of(template.get("spec"))),
    }
