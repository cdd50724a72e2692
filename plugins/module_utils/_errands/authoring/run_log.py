# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The log of a run of an errand, for a task that waits for its end.

The output of a run is secret, too, and it is known only after the containers have ended. So the log of a run
with output is shown after that.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

from ..._cluster.cluster import Cluster, Object
from ..._cluster.errors import ClusterError, Forbidden
from ..._errors import LifecycleError
from ..._jobs.pod_logs import (
    ContainerLog,
    LogFollower,
    LogHidden,
    failed_container,
    last_lines,
    read_secret,
    values_of_secret,
)
from ..._progress import Progress
from ..errand_index import POD
from ..errand_model import ERRAND_LABEL, RUN_LABEL, Errand, ErrandKey, OutputSource, label_value
from ..holding_container import MISSING, RecordedOutput, read_command, recorded_output
from ..output import read_contents

OUTPUT_UNKNOWN = "the output of the run was not read, so values in it can't be masked"


class RunLog:
    """The log of a run.

    Args:
        cluster: the live one.
        key: of the errand.
        number: of the run.
        progress: gets each line of it; None for none.
    """

    def __init__(self, cluster: Cluster, key: ErrandKey, number: int, progress: Progress | None) -> None:
        self._cluster = cluster
        self._key = key
        self._number = number
        # The subject is not that of the wait, which lasts.
        self._follower = LogFollower(cluster, progress, f"{key.namespace}/{key.name}") if progress else None
        self._outputs: dict[str, set[bytes]] = {}
        self._errand: Errand | None = None
        self._last_pod: Object | None = None

    def look(self, errand: Errand, pods: Iterable[Object] | None = None, *, is_end: bool = False) -> None:
        """Read what is new, before the run goes on: with its end, its output is gone.

        Args:
            errand: as it is now.
            pods: of the errand; None to read them.
            is_end: whether the run has ended.
        """
        self._errand = errand
        try:
            # A succeeded run's pod may be gone already.
            pod = self._pod(pods) or (self._last_pod if is_end else None)
            if pod is None:
                return
            self._last_pod = pod
            self._read_output(pod)
            if self._follower:
                holders = (*recorded_output(pod).holders.values(),)
                values = self._values_so_far(pod, is_end=is_end)
                self._follower.look(pod, values, ignored=holders, is_end=is_end)
        except ClusterError:
            # The next look reads it again.
            return
        except LifecycleError as error:
            if self._follower:
                self._follower.hide(str(error))

    def failure(self, errand: Errand) -> ContainerLog | None:
        """The last lines of the container that failed; None if none did.

        Args:
            errand: as it is now.
        """
        self._errand = errand
        try:
            pod = self._pod(None)
            if pod is None:
                return ContainerLog("", "", problem="its pod is gone, or there was none")
            container = failed_container(pod, (*recorded_output(pod).holders.values(),))
        except LifecycleError as error:
            return ContainerLog("", "", problem=str(error))
        if not container:
            return None
        return last_lines(self._cluster, pod, container, lambda: self._output_values(pod))

    def _values_so_far(self, pod: Object, *, is_end: bool) -> set[bytes] | None:
        """The values of the output; None if they may still become known."""
        try:
            return self._output_values(pod)
        except LogHidden:
            if is_end:
                raise
            return None

    def _pod(self, pods: Iterable[Object] | None) -> Object | None:
        """The newest pod of the run."""
        number = str(self._number)
        if pods is None:
            selector = f"{ERRAND_LABEL}={label_value(self._key.name)},{RUN_LABEL}={number}"
            try:
                pods = self._cluster.list(*POD, self._key.namespace, label_selector=selector).items
            except Forbidden:
                raise LogHidden(f"the right to list pods in {self._key.namespace} is missing") from None
        own = [one for one in pods if (one["metadata"].get("labels") or {}).get(RUN_LABEL) == number]
        uid = self._errand.uid if self._errand else ""
        # A pod of an earlier errand of this name may still be there.
        own = [one for one in own if recorded_output(one).errand_uid in ("", uid)]
        return max(own, key=lambda one: str(one["metadata"].get("creationTimestamp")), default=None)

    def _output_values(self, pod: Object) -> set[bytes]:
        """The values of the output of the run.

        Raises:
            LogHidden: they are not known.
            ClusterError: the server does not answer.
        """
        output, states = recorded_output(pod), _states(pod)
        run = self._errand.status.run if self._errand else None
        note = run.output if run and run.number == self._number else None
        values: set[bytes] = set()
        for container in output.spec.containers:
            state = states.get(container, {})
            if not {"running", "terminated"} & state.keys():
                # It has not begun.
                continue
            if output.spec.source is OutputSource.TERMINATION_MESSAGE and "terminated" in state:
                values.add(str(state["terminated"].get("message") or "").encode())
            elif container in self._outputs:
                values |= self._outputs[container]
            elif note is None or note.reason:
                raise LogHidden(OUTPUT_UNKNOWN)
        for name in note.secrets if note else ():
            values |= values_of_secret(read_secret(self._cluster, name, self._key.namespace))
        return values

    def _read_output(self, pod: Object) -> None:
        """Read the output of containers that have ended, while their holding containers run."""
        output, states = recorded_output(pod), _states(pod)
        for container, holder in output.holders.items():
            is_held = "running" in states.get(holder, {}) and "terminated" in states.get(container, {})
            if is_held and container not in self._outputs:
                # A holding container can end at any time. Without its files no log is shown.
                with suppress(ClusterError, LogHidden):
                    self._outputs[container] = self._files(pod, output, container, holder)

    def _files(self, pod: Object, output: RecordedOutput, container: str, holder: str) -> set[bytes]:
        meta, contents = pod["metadata"], set()
        for file in (one.file for one in output.spec.files if one.container == container):
            answer = self._cluster.exec(
                meta["name"], meta["namespace"], read_command([file]), container=holder
            )
            if answer.exit_code not in (0, MISSING):
                raise LogHidden(OUTPUT_UNKNOWN)
            contents |= {*read_contents(answer.stdout, f"container {holder}")}
        return contents


def _states(pod: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """The states of the containers of a pod, by name."""
    statuses = (pod.get("status") or {}).get("containerStatuses") or ()
    return {str(one["name"]): one.get("state") or {} for one in statuses}
