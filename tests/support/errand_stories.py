# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stories of errands in memory from start to end, for tests that disturb them at every call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.errand_model import status_fields

from .played_errands import (
    NAMESPACE,
    PlayedErrands,
    config_map,
    container,
    errand_object,
    one_file,
    reading,
)
from .played_jobs import JOB, POD

SECRET_VALUE = "geheim-4711"
CONTENT = b'{"password": "geheim-4711"}'


@dataclass(frozen=True, eq=False)
class ErrandStory:
    """The acts of a user, one after the other; after each, the cluster settles.

    Attributes:
        acts: of the user.
        values: of the Secrets at the end.
        jobs: the names of all created Jobs.
        strategy: of the errand at the end.
    """

    acts: tuple[Callable[[PlayedErrands], Any], ...]
    values: dict[str, dict[str, str]]
    jobs: tuple[str, ...]
    strategy: str

    def play(
        self,
        settle: Callable[[PlayedErrands], None] = PlayedErrands.settle,
        played: PlayedErrands | None = None,
    ) -> PlayedErrands:
        """Play it, in a prepared cluster or in its own; ``settle`` lets the cluster settle after each act."""
        played = played or PlayedErrands()
        for act in self.acts:
            act(played)
            settle(played)
        return played

    def problems(self, played: PlayedErrands) -> list[str]:
        """The differences from the expected end, no matter what has happened meanwhile."""
        events = played.events()
        status = status_fields(played.errand().status)
        numbers = [one["run"] for one in status["history"]]
        comparisons = {
            "Jobs made": (played.made_jobs(), list(self.jobs)),
            "pods started": (len(played.jobs.started), len(self.jobs)),
            "Secrets": (played.secrets(), self.values),
            "strategy": (str(played.errand().spec.strategy), self.strategy),
            "Events": (len(events), len(set(events))),
            "history": (numbers, [*range(len(self.jobs), 0, -1)]),
            "values in what others may read": (_leaks(played), []),
        }
        return [
            f"{what}: {have!r} instead of {want!r}"
            for what, (have, want) in comparisons.items()
            if have != want
        ]


def end_state(played: PlayedErrands) -> Object:
    """How an errand ended, without what differs each time."""
    status = status_fields(played.errand().status)
    run = status["run"]
    for one in [*status["conditions"], *status["history"], run, run["outcome"]]:
        for name in ("lastTransitionTime", "started", "finished", "noted", "jobUid", "configuration"):
            one.pop(name, None)
    # A writer that repeats what another one has begun finds its Secrets.
    (run.get("output") or {}).pop("unchanged", None)
    pods = played.cluster.list(*POD, NAMESPACE).items
    kinds = [[one["kind"] for one in pod["metadata"].get("ownerReferences") or ()] for pod in pods]
    return {"status": status, "jobs": played.names(JOB), "owners of pods": kinds}


def _leaks(played: PlayedErrands) -> list[str]:
    """Objects other than Secrets that have the value of a Secret, and the reported outcomes."""
    shown = [played.object(), *played.outcomes]
    for kind in (JOB, POD, ("v1", "Event")):
        shown += played.cluster.list(*kind, NAMESPACE).items
    return [repr(one)[:200] for one in shown if SECRET_VALUE in repr(one)]


def _writes(played: PlayedErrands) -> None:
    played.writes_output(CONTENT)


def _fails(played: PlayedErrands) -> None:
    played.writes_output(CONTENT, exit_code=1)


def _act(
    change: Callable[[PlayedErrands], Any], *, prepare: Callable[[PlayedErrands], None] = _writes
) -> Any:
    def act(played: PlayedErrands) -> None:
        prepare(played)
        change(played)

    return act


def _change_config_map(played: PlayedErrands) -> None:
    played.cluster.patch("v1", "ConfigMap", "config", NAMESPACE, {"data": {"a": "2"}})


VALUES = {"password": SECRET_VALUE}
STORIES = {
    "a once with versioned output": ErrandStory(
        (_act(lambda played: played.create(errand_object(output=one_file(versioned=True)))),),
        {"result-v1": VALUES},
        ("app-1",),
        "done",
    ),
    "a now that fails, with plain output": ErrandStory(
        (
            _act(
                lambda played: played.create(
                    errand_object(strategy="now", output={**one_file(), "writeOnFailure": True})
                ),
                prepare=_fails,
            ),
            _act(lambda played: played.patch({"spec": {"trigger": {"strategy": "now"}}})),
        ),
        {"result": VALUES},
        ("app-1", "app-2"),
        "manual",
    ),
    "a rerun when the configuration changes": ErrandStory(
        (
            _act(
                lambda played: (
                    played.create(config_map("config", a="1")),
                    played.create(
                        errand_object(
                            containers=[reading(("ConfigMap", "config"))],
                            output=one_file(versioned=True),
                            reruns=True,
                        )
                    ),
                )
            ),
            _act(_change_config_map),
        ),
        {"result-v1": VALUES},
        ("app-1", "app-2"),
        "done",
    ),
    "a wait for a ConfigMap, whose pod goes with its Job": ErrandStory(
        (
            _act(
                lambda played: played.create(
                    errand_object(
                        containers=[reading(("ConfigMap", "config")), container("other")],
                        labels={"delete": "pod"},
                        output=one_file(),
                    )
                )
            ),
            _act(
                lambda played: (
                    played.jobs.runs.update(other=played.jobs.runs["main"]),
                    played.create(config_map("config", a="1")),
                )
            ),
        ),
        {"result": VALUES},
        ("app-1",),
        "done",
    ),
}
"""The values of their Secrets are all the same."""
