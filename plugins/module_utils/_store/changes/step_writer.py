# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes one step of a change to the cluster."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from ..._cluster.cluster import Cluster, Object, address_of, ref_of
from ..._cluster.errors import AlreadyExists, ApiError, Conflict, NotFound, is_answer
from ..._cluster.exact_patch import patch_exactly
from ..._errors import LifecycleError
from ..._job_models.core_job import JobKey, JobType
from ..._job_models.runtime.patches import merge_patch_ignoring_nulls
from ..._job_models.runtime.runtime_objects import KINDS_OF, SERVICE, has_job_label
from ..._job_models.storage.definition import (
    DEFINITION_KINDS,
    StoredDefinition,
    definition_object,
    read_definition,
)
from ..._job_models.storage.stored_status import WrittenObject
from ..._objects.apply.refusals import is_immutable
from ..._record_codec import to_record
from ..job_state import run_outcome
from ..snapshot import RuntimeJob
from .change_steps import (
    DeleteDefinition,
    DeleteRuntime,
    Step,
    WriteDefinition,
    WriteDefinitionStatus,
    WriteRuntime,
)
from .deletion_wait import DeletionWait
from .job_view import JobView, without_foreign_service
from .statuses import known_object


class RuntimeRefused(LifecycleError):
    """The API server refuses a runtime object.

    Attributes:
        view: the state of the job at that time.
        error: the refusal.
    """

    def __init__(self, view: JobView, error: ApiError) -> None:
        super().__init__(str(error))
        self.view = view
        self.error = error


class StaleView(LifecycleError):
    """Others have changed the data that a step was decided from.

    Attributes:
        refused: the refusal to report if it happens again: an object of the same name is not the job's.
    """

    def __init__(self, message: str, refused: RuntimeRefused | None = None) -> None:
        super().__init__(message)
        self.refused = refused


@dataclass(frozen=True)
class StepWriter:
    """Writes the steps of changes.

    Attributes:
        cluster: where to write.
        wait: how to wait until a deleted object is gone.
    """

    cluster: Cluster
    wait: DeletionWait = field(default_factory=DeletionWait)

    def write(self, view: JobView, step: Step) -> JobView:
        """Write a step; return the state of the job after it.

        Raises:
            StaleView: others have changed an object meanwhile.
            RuntimeRefused: the API server refuses a runtime object.
            ClusterError: any other step fails.
        """
        try:
            if isinstance(step, WriteDefinition):
                return self._write_definition(view, step)
            if isinstance(step, DeleteDefinition):
                return self._delete_definition(view, step)
            if isinstance(step, WriteDefinitionStatus):
                return self._write_status(view, step)
            if isinstance(step, DeleteRuntime):
                return self._delete_runtime(view, step)
            return self._write_runtime(view, step)
        except Conflict as error:
            raise StaleView(str(error)) from error
        except NotFound as error:
            if _is_creation(step):
                raise
            raise StaleView(str(error)) from error

    def _write_definition(self, view: JobView, step: WriteDefinition) -> JobView:
        existing = step.existing
        base = existing or view.definition
        obj = definition_object(step.job, base.obj if base else None, step.replaces)
        if step.is_adoption:
            self._refuse_gone(view, step.job.type)
        if existing is None:
            answer = self.cluster.create(obj)
            # The API server keeps names apart only within a kind. Each writer checks after its own write, so
            # of two at the same time at least one sees the other.
            if other := self._other_definition(view, answer):
                self._delete_exactly(answer)
                raise StaleView(f"{ref_of(other)} was created meanwhile")
        else:
            # Its creator deletes it if there is another definition. A change of it would prevent that.
            if not existing.status.objects and (other := self._other_definition(view, existing.obj)):
                raise StaleView(f"{ref_of(other)} was created meanwhile")
            answer = patch_exactly(self.cluster, existing.obj, merge_patch_ignoring_nulls(existing.obj, obj))
        definition = read_definition(answer)
        replaced = view.definition if existing is None else view.replaced
        return replace(view, definition=definition, replaced=replaced, adoptable=None)

    def _refuse_gone(self, view: JobView, type_: JobType) -> None:
        """Refuse to create a definition from objects that others have deleted since the view was read."""
        runtime = view.runtime.get(type_)
        main = self.cluster.get(*address_of(runtime.main)) if runtime else None
        if runtime is None or main is None or main["metadata"].get("uid") != runtime.uid:
            raise StaleView(f"the {type_} job was deleted meanwhile")

    def _other_definition(self, view: JobView, obj: Object) -> Object | None:
        """A definition of the same name and another type that others have created since the view was read."""
        known = {ref_of(one.obj).kind for one in (view.definition, view.replaced) if one} | {obj["kind"]}
        others = (kind for kind in DEFINITION_KINDS.values() if kind[1] not in known)
        return next(
            (foreign for kind in others if (foreign := self.cluster.get(*kind, *address_of(obj)[2:]))), None
        )

    def _delete_definition(self, view: JobView, step: DeleteDefinition) -> JobView:
        type_ = step.definition.type
        if type_ not in view.runtime:
            if type_ not in view.excluded:
                self._refuse_new_runtime(view, type_)
            if type_ is JobType.CONTINUOUS:
                self._delete_left_service(step.definition)
        self._delete_exactly(step.definition.obj)
        if view.replaced is step.definition:
            return replace(view, replaced=None)
        return replace(view, definition=view.replaced, replaced=None)

    def _refuse_new_runtime(self, view: JobView, type_: JobType) -> None:
        """Refuse to delete a definition whose runtime objects others have created since the view was read."""
        main = self.cluster.get(*KINDS_OF[type_][0], view.key.name, view.key.namespace)
        if main and has_job_label(main, view.key.name):
            raise StaleView(f"{ref_of(main)} was created meanwhile")

    def _write_status(self, view: JobView, step: WriteDefinitionStatus) -> JobView:
        obj, fields = step.definition.obj, to_record(step.status)
        patch = {"status": merge_patch_ignoring_nulls(obj.get("status") or {}, fields)}
        definition = read_definition(patch_exactly(self.cluster, obj, patch, subresource="status"))
        # The API server's answer may have another order, or no empty fields.
        definition = replace(definition, status=step.status)
        # The status has it now.
        return replace(view, definition=definition, ended=None, vanished=None)

    def _delete_runtime(self, view: JobView, step: DeleteRuntime) -> JobView:
        runtime = view.runtime[step.type]
        ended = run_outcome(runtime) if step.live is runtime.main else None
        self._delete_and_wait(step.live)
        return replace(view.without_runtime(step.type, step.live["kind"]), ended=ended or view.ended)

    def _write_runtime(self, view: JobView, step: WriteRuntime) -> JobView:
        try:
            answer = self._written_runtime(step)
        except AlreadyExists as error:
            raise StaleView(str(error), RuntimeRefused(view, error)) from error
        except (Conflict, NotFound):
            if step.live is None:
                raise
            return self._with_fresh_runtime(view, step.type, step.live)
        except ApiError as error:
            if not is_answer(error):
                raise
            now = view if step.live is None else self._with_fresh_runtime(view, step.type, step.live)
            raise RuntimeRefused(now, error) from error
        written = view.with_runtime(step.type, answer, known_object(step.desired, answer))
        is_new_deployment = step.live is None and step.type not in view.runtime
        if step.type is JobType.CONTINUOUS and is_new_deployment and written.definition:
            return self._with_left_service(written, written.definition)
        return written

    def _written_runtime(self, step: WriteRuntime) -> Object:
        if step.live is None or step.patch is None:
            return self.cluster.create(step.desired)
        try:
            return patch_exactly(self.cluster, step.live, step.patch)
        except ApiError as error:
            if not is_immutable(error):
                raise
            if step.replacement is None:
                return step.live
        self._delete_and_wait(step.live)
        return self.cluster.create(step.replacement)

    def _with_fresh_runtime(self, view: JobView, type_: JobType, stale: Object) -> JobView:
        """The view with the current runtime object: a controller may write a status at any time."""
        live = self.cluster.get(*address_of(stale))
        if live is None:
            return view.without_runtime(type_, stale["kind"])
        runtime = view.runtime[type_]
        is_main = stale["kind"] == runtime.main["kind"]
        new = RuntimeJob(type_, live, runtime.service) if is_main else replace(runtime, service=live)
        return replace(view, runtime={**view.runtime, type_: new})

    def _with_left_service(self, view: JobView, definition: StoredDefinition) -> JobView:
        """The view of a new Deployment, with a Service that remains of one that others have deleted."""
        type_ = JobType.CONTINUOUS
        service = self._own_service(view.key, definition.status.known(SERVICE))
        new = without_foreign_service(definition, replace(view.runtime[type_], service=service))
        return replace(view, runtime={**view.runtime, type_: new})

    def _delete_left_service(self, definition: StoredDefinition) -> None:
        """Delete a Service whose Deployment others have deleted: no snapshot has it."""
        written = definition.status.known(SERVICE)
        service = self._own_service(definition.key, written)
        if service:
            self._delete_and_wait(service)

    def _own_service(self, key: JobKey, written: WrittenObject | None) -> Object | None:
        """The Service with the name of a job, if it belongs to the job."""
        service = self.cluster.get("v1", SERVICE, key.name, key.namespace)
        if service is None or has_job_label(service, key.name):
            return service
        return service if written and written.uid and written.uid == service["metadata"].get("uid") else None

    def _delete_and_wait(self, live: Object) -> None:
        self.cluster.delete(*address_of(live), uid=live["metadata"].get("uid"), propagation="Foreground")
        if not self.wait.is_over(self.cluster, [live]):
            raise LifecycleError(
                f"{ref_of(live)} still exists {self.wait.seconds:g} s after its deletion. Find out which"
                " finalizer or pod holds it, and run this again."
            )

    def _delete_exactly(self, live: Object) -> None:
        meta = live["metadata"]
        self.cluster.delete(
            *address_of(live), uid=meta.get("uid"), resource_version=meta.get("resourceVersion")
        )


def _is_creation(step: Step) -> bool:
    if isinstance(step, WriteDefinition):
        return step.existing is None
    return isinstance(step, WriteRuntime) and step.live is None
