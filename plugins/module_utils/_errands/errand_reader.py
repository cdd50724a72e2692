# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads the input of the decision on an errand: from the index, and the rest from the cluster."""

from __future__ import annotations

import base64
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from .._cluster.cluster import GROUP, Cluster, Object
from .._cluster.errors import AlreadyExists, ClusterError
from .._errors import LifecycleError
from .._jobs.configuration import ConfigurationEntry, configuration_entry, missing_keys
from .._jobs.job_outcome import has_ended, pod_of
from .._jobs.pod_references import PodReference, pod_references
from .._jobs.versioned_secrets import newest_version, split_versioned_name
from .._objects.access.review import missing_rights
from .._objects.access.rights import Right
from .._text import one_line
from .._timestamp import parse_time
from .due_run import configuration_changes, needs_configuration, triggered_run
from .earlier_jobs import find_earlier_jobs, is_job_of_run
from .errand_definition import EXEC, run_rights, run_rights_problem
from .errand_index import JOB, POD, ErrandIndex
from .errand_model import (
    ERRAND_LABEL,
    RUN_LABEL,
    Errand,
    ErrandKey,
    Run,
    label_value,
    owner_reference,
)
from .errand_view import DEFAULT_OPTIONS, CurrentConfiguration, ErrandView, RunOptions
from .holding_container import recorded_output
from .output import NAMESPACE_DELETED

RIGHTS_SECONDS = 60.0
"""How long the answer holds that no right is missing."""
REFUSAL_SECONDS = 10.0
"""How old a Job has to be before its lack of a pod is looked into."""
FULL_QUOTA = "exceeded quota"
"""What the API server says if a quota refuses an object."""
DIGEST_KEY = "key"
DIGEST_KEY_TYPE = f"{GROUP}/digest-key"


_Read = dict[tuple[str, str], "Object | None"]
_Recorded = Mapping[tuple[str, str], ConfigurationEntry]
"""ConfigMaps and Secrets that were just read, by kind and name."""


class ErrandReader:
    """Reads the state of errands.

    Args:
        cluster: the live one.
        index: of its errands. All that is read in addition goes into it.
        options: of runs.
        now: returns the time; for tests.
    """

    def __init__(
        self,
        cluster: Cluster,
        index: ErrandIndex,
        *,
        options: RunOptions = DEFAULT_OPTIONS,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._cluster = cluster
        self._index = index
        self._options = options
        self._now = now
        self._granted: dict[frozenset[Right], float] = {}
        self._renewed: dict[tuple[ErrandKey, int], datetime] = {}

    def record_renewal(self, errand: Errand) -> None:
        """Record that the holding containers of an errand's run have been renewed."""
        run = errand.status.open_run
        if run:
            self._renewed = {one: at for one, at in self._renewed.items() if one[0] != errand.key}
            self._renewed[errand.key, run.number] = self._now()

    def view(self, key: ErrandKey) -> ErrandView | None:
        """The state of an errand; None if it is gone.

        Raises:
            ClusterError: the server does not answer, or refuses a read.
        """
        errand = self._index.errand(key)
        if errand is None:
            return None
        run = errand.status.run
        job, pod, has_started = self._work_of(errand, run)
        view = ErrandView(
            errand,
            self._now(),
            job=job,
            pod=pod,
            earlier_jobs=find_earlier_jobs(self._index.owned(JOB, errand.key), errand),
            has_started=has_started,
            options=self._options,
            quota_grown=self._index.quota_grown(key.namespace),
            renewed=self._renewed.get((key, run.number)) if run else None,
        )
        if needs_configuration(errand):
            view = replace(view, configuration=self._configuration(errand))
        if errand.spec.reruns_on_change:
            view = replace(view, cycle=self._index.cycle(errand))
        if triggered_run(errand) or (view.configuration and view.configuration.changed):
            view = replace(view, may_exec=self._allows_exec(errand))
        if run and run.is_open and job and not pod:
            refusal, since = self._refusal_of(job)
            view = replace(view, pod_refusal=refusal, refused_since=since)
        if run and run.is_open and run.job_uid and _is_going(job, pod):
            view = replace(view, is_namespace_ending=self._is_ending(key))
        return view

    def demand_rights(self, errand: Errand) -> None:
        """Check before a step of a run that no right for it is missing; a view has the answer about exec."""
        missing = self._missing(frozenset(one for one in run_rights(errand) if one.resource != EXEC))
        if missing:
            raise LifecycleError(f"{errand.key}: {run_rights_problem(errand, missing)}")

    def _work_of(self, errand: Errand, run: Run | None) -> tuple[Object | None, Object | None, bool]:
        """The Job and the pod of the last run, and whether the run had a pod."""
        if run is None:
            return None, None, False
        job = next((one for one in self._index.owned(JOB, errand.key) if is_job_of_run(one, run)), None)
        pods = self._index.owned(POD, errand.key)
        if run.is_open and (job is None or (run.job_uid and not pod_of(job, pods))):
            pods = self._live_pods(errand, run)
        if run.is_open and job is None:
            # After the pods, as another reconciler may create it now: a pod shows that it existed before.
            job = self._live_job(errand, run)
        pod = pod_of(job or {"metadata": {"uid": run.job_uid}}, pods)
        has_started = job is None and any(_is_of_run(one, errand, run) for one in pods)
        return job, pod, has_started

    def _live_job(self, errand: Errand, run: Run) -> Object | None:
        """The Job of a run, which may lack our label, or of which the index does not know yet."""
        job = self._cluster.get(*JOB, run.job, errand.key.namespace)
        if job and _label(job, ERRAND_LABEL) == label_value(errand.key.name):
            self._index.put(JOB, job)
        return job if job and is_job_of_run(job, run) else None

    def _live_pods(self, errand: Errand, run: Run) -> list[Object]:
        selector = f"{ERRAND_LABEL}={label_value(errand.key.name)},{RUN_LABEL}={run.number}"
        pods = self._cluster.list(*POD, errand.key.namespace, label_selector=selector).items
        for pod in pods:
            self._index.put(POD, pod)
        return pods

    def _allows_exec(self, errand: Errand) -> bool | None:
        rights = frozenset(one for one in run_rights(errand) if one.resource == EXEC)
        return not self._missing(rights) if rights else None

    def _missing(self, rights: frozenset[Right]) -> set[Right]:
        if time.monotonic() - self._granted.get(rights, -RIGHTS_SECONDS) < RIGHTS_SECONDS:
            return set()
        missing = missing_rights(self._cluster, rights)
        if not missing:
            self._granted[rights] = time.monotonic()
        return missing

    def _refusal_of(self, job: Mapping[str, Any]) -> tuple[str, datetime | None]:
        """Why a Job has no pod, by the last Event that says so, and since when if that is no full quota."""
        meta = job["metadata"]
        created = parse_time(meta.get("creationTimestamp")) or self._now()
        if job["spec"].get("suspend") or (self._now() - created).total_seconds() < REFUSAL_SECONDS:
            return "", None
        try:
            events = self._cluster.list(
                "v1", "Event", meta["namespace"], field_selector=f"involvedObject.uid={meta['uid']}"
            ).items
        except ClusterError:
            return "", None
        refusals = [one for one in events if one.get("reason") == "FailedCreate"]
        last = max(refusals, key=lambda one: str(one.get("lastTimestamp") or ""), default=None)
        if last is None:
            return "", None
        text = one_line(f"no pod can be created: {last.get('message')}")
        if _is_full_quota(last):
            return text, None
        # What a quota refuses, all else has admitted; and a Job that is resumed starts again.
        full = [parse_time(one.get("lastTimestamp")) for one in refusals if _is_full_quota(one)]
        starts = (created, parse_time((job.get("status") or {}).get("startTime")), *full)
        start = max(filter(None, starts))
        lasting = [parse_time(one.get("firstTimestamp")) for one in refusals if not _is_full_quota(one)]
        return text, min((one for one in lasting if one and one > start), default=start)

    def _is_ending(self, key: ErrandKey) -> bool:
        """Whether the namespace of an errand is being deleted: it refuses new objects, also in a dry run."""
        meta = {"name": key.name, "namespace": key.namespace}
        try:
            self._cluster.create({"apiVersion": JOB[0], "kind": JOB[1], "metadata": meta}, dry_run=True)
        except ClusterError as refusal:
            return any(cause.reason == NAMESPACE_DELETED for cause in getattr(refusal, "causes", ()))
        return False

    # The configuration of a run.

    def _configuration(self, errand: Errand) -> CurrentConfiguration:
        references = pod_references(errand.spec.pod_template)
        run = errand.status.run
        recorded = {(one.kind, one.name): one for one in run.configuration} if run else {}
        is_due = errand.status.open_run is not None or triggered_run(errand) is not None
        read: _Read = {}
        if not is_due:
            entries = [self._entry(errand, one, recorded, read) for one in references]
            changed = configuration_changes(recorded, entries)
            if not changed:
                return CurrentConfiguration(tuple(entries))
        return self._whole_configuration(errand, references, recorded, read)

    def _whole_configuration(
        self, errand: Errand, references: Sequence[PodReference], recorded: _Recorded, read: _Read
    ) -> CurrentConfiguration:
        entries, missing, names = [], [], {}
        for reference in references:
            name = self._resolved_name(errand, reference)
            object_key = (reference.kind, name)
            obj = (
                read[object_key]
                if object_key in read
                else self._cluster.get("v1", *object_key, errand.key.namespace)
            )
            if name != reference.name:
                names[reference.name] = name
            missing += _missing(reference, name, obj, errand.key.namespace)
            entries.append(configuration_entry(reference, obj, self._digest_key(errand, reference, obj)))
        changed = tuple(configuration_changes(recorded, entries))
        return CurrentConfiguration(tuple(entries), tuple(missing), names, changed)

    def _entry(
        self, errand: Errand, reference: PodReference, recorded: _Recorded, read: _Read
    ) -> ConfigurationEntry:
        """The entry of a reference; reads the object only if it is not the recorded one.

        All that it reads goes into ``read``, too.
        """
        name = self._resolved_name(errand, reference)
        mark = self._index.mark(reference.kind, errand.key.namespace, name)
        if mark is None:
            return ConfigurationEntry(reference.kind, reference.name, reference.name)
        entry = recorded.get((reference.kind, reference.name))
        if entry and (entry.resolved_name, entry.uid, entry.resource_version) == (
            name,
            mark.uid,
            mark.resource_version,
        ):
            return entry
        obj = self._cluster.get("v1", reference.kind, name, errand.key.namespace)
        read[reference.kind, name] = obj
        return configuration_entry(reference, obj, self._digest_key(errand, reference, obj))

    def _resolved_name(self, errand: Errand, reference: PodReference) -> str:
        """The name of the referenced object: for a versioned Secret, the name of its newest version."""
        namespace = errand.key.namespace
        split = split_versioned_name(reference.name) if reference.kind == "Secret" else None
        if split is None:
            return reference.name
        named = self._index.mark(reference.kind, namespace, reference.name)
        if named and named.version is None:
            return reference.name
        newest = newest_version(split[0], self._index.versions(namespace, split[0]))
        return newest.name if newest else reference.name

    def _digest_key(self, errand: Errand, reference: PodReference, obj: Object | None) -> bytes:
        """The key for digests of Secrets, so that readers of a status can't guess short values from them."""
        if reference.kind != "Secret" or obj is None:
            return b""
        if not errand.spec.reruns_on_change:
            return secrets.token_bytes(32)
        name = f"{label_value(errand.key.name)}-digest-key"
        secret = self._cluster.get("v1", "Secret", name, errand.key.namespace)
        if secret is None:
            secret = self._new_digest_key(errand, name)
        if secret.get("type") != DIGEST_KEY_TYPE:
            raise LifecycleError(
                f"{errand.key}: Secret {name} exists, and is not the one by which it knows whether its"
                " configuration has changed. Rename that Secret, or the errand"
            )
        return base64.b64decode((secret.get("data") or {}).get(DIGEST_KEY) or "")

    def _new_digest_key(self, errand: Errand, name: str) -> Object:
        self.demand_rights(errand)
        obj = {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {
                "name": name,
                "namespace": errand.key.namespace,
                "ownerReferences": [owner_reference(errand)],
            },
            "type": DIGEST_KEY_TYPE,
            "immutable": True,
            "data": {DIGEST_KEY: base64.b64encode(secrets.token_bytes(32)).decode()},
        }
        try:
            return self._cluster.create(obj)
        except AlreadyExists:
            existing = self._cluster.get("v1", "Secret", name, errand.key.namespace)
            return existing or obj


def _is_going(job: Mapping[str, Any] | None, pod: Mapping[str, Any] | None) -> bool:
    """Whether the Job or the pod of a run is being deleted, or is gone."""
    is_deleting = any(one["metadata"].get("deletionTimestamp") for one in (job, pod) if one)
    return is_deleting or job is None or (pod is None and has_ended(job))


def _is_full_quota(event: Mapping[str, Any]) -> bool:
    return FULL_QUOTA in str(event.get("message"))


def _missing(reference: PodReference, name: str, obj: Object | None, namespace: str) -> list[str]:
    """What a reference needs and is missing."""
    if obj is None:
        return [] if reference.is_optional else [f"{reference.kind} {namespace}/{name}"]
    return [f"key {key} of {reference.kind} {namespace}/{name}" for key in missing_keys(obj, reference)]


def _is_of_run(pod: Mapping[str, Any], errand: Errand, run: Run) -> bool:
    """Whether a pod is of a run of an errand, and not of an earlier errand of the same name."""
    return _label(pod, RUN_LABEL) == str(run.number) and recorded_output(pod).errand_uid == errand.uid


def _label(obj: Mapping[str, Any], label: str) -> str:
    return str((obj["metadata"].get("labels") or {}).get(label) or "")
