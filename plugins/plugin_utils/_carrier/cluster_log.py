# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The results of deployments on all hosts of a playbook, and what is printed of them when Ansible ends.

No task can print that. The last play of a playbook does not begin if all hosts of an earlier one have
failed, and no task of a host runs after it has failed. So each task writes a line to a file, and Ansible's
main process reads it at its exit. It imports an action plugin before it forks the first worker for it, so it
has imported this module too.
"""

from __future__ import annotations

import atexit
import json
import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Any

from ansible import constants as C
from ansible import context
from ansible.utils.display import Display

from ...module_utils._result_codec import from_result, to_result
from ...module_utils._runs.cluster_state import (
    PLANNED,
    REASONED_STATES,
    RUNNING,
    WAITING,
    ClusterState,
    Hop,
    cluster_state,
    is_out,
)
from ...module_utils._runs.outcomes import NOT_STARTED
from .command_target import PLACEHOLDER, CommandTarget
from .screen.console import print_banner, print_block, print_line

if TYPE_CHECKING:
    from .._last_lines.playbook_summary import NextStep, PlaybookSummary
    from .._rollout.model import Rollout

NAME = "kyma-clusters.jsonl"
DECIDABLE_STATES = (PLANNED, WAITING, NOT_STARTED)
"""States of clusters without a run, which a decision about rings may replace."""
NEXT_CALL = "its ring may start when the same command is run again"
HIDDEN = "hidden, as the task has no_log"
"""The reason of a failed task whose results must not be printed."""


class ClusterLog:
    """The file of one ``ansible-playbook``; the process that creates this prints the end of the playbook."""

    def __init__(self) -> None:
        self._owner = os.getpid()
        self._writer: object = None
        atexit.register(self._print_end)

    def write(
        self,
        hosts: Iterable[str],
        attempt: ClusterState,
        task: object = None,
        *,
        counts: bool = True,
        target: CommandTarget | None = None,
    ) -> None:
        """Add what a task has made of a host.

        Args:
            hosts: all hosts that the play deploys to, before or after their turn.
            attempt: of the host.
            task: that has made it. If Ansible repeats a task, only the last time counts.
            counts: whether it changes the state of the host.
            target: of commands for the host.
        """
        is_repeated = task is not None and task is self._writer
        if not (counts or is_repeated):
            return
        self._writer = task
        if getattr(task, "no_log", False):
            hops = (replace(hop, failures=(HIDDEN,) if hop.failures else ()) for hop in attempt.hops)
            failures = (HIDDEN,) if attempt.failures else ()
            attempt = replace(attempt, failures=failures, hops=tuple(hops))
        self._add(
            hosts=list(hosts),
            attempt=to_result(attempt),
            ends=attempt.ends_with_playbook,
            at=time.monotonic(),
            is_repeated=is_repeated,
            counts=counts,
            target=asdict(target) if target else {},
        )

    def write_report(self, paths: Mapping[str, Path]) -> None:
        """Add that the files of a report were written, by option."""
        for option, path in paths.items():
            self._add(**{"report": str(path)} if option == "path" else {"file": f"{option}: {path}"})

    def write_warnings(self, warnings: Iterable[object]) -> None:
        """Add the warnings of a task; those of a shipped module are objects of Ansible's."""
        self._add(warnings=[str(getattr(getattr(one, "event", None), "msg", one)) for one in warnings])

    def warnings(self) -> list[str]:
        """The warnings of all tasks, each once."""
        return list(dict.fromkeys(text for one in self._entries() for text in one.get("warnings", ())))

    def show_rollout(self, rollout: Mapping[str, Any]) -> None:
        """Print the first decision about rings. A later one is printed when Ansible ends, if it differs.

        Clusters without a run so far get the states that it says.

        Args:
            rollout: the result of the module ``rollout``.
        """
        if not self._decisions():
            from .._rollout.model import Rollout

            _print_rollout(from_result(Rollout, rollout), is_over=False)
        self._add(rollout=rollout)
        known = {one.cluster: one.state for one in self.states(is_over=False)}
        clusters = [one for ring in rollout["rings"] for one in ring["clusters"]]
        hosts = [one["name"] for one in clusters]
        for cluster in clusters:
            name, state, before = cluster["name"], cluster["state"], known.get(cluster["name"], NOT_STARTED)
            # A failed cluster that is tried again has not failed now.
            if before not in DECIDABLE_STATES or (before == PLANNED and name in rollout["deploy"]):
                continue
            # After the deployments, what may begin now begins at the next call.
            state, reason = (
                (WAITING, NEXT_CALL) if before == WAITING and state == PLANNED else (state, cluster["reason"])
            )
            failures = (reason,) if reason else ()
            self.write(
                hosts, ClusterState(name, cluster["previous"], cluster["version"], state, failures=failures)
            )
            hosts = []

    def rollout(self, *, is_over: bool) -> Rollout | None:
        """What was decided last about rings, with the ends of the runs since then; None without rings."""
        decided = self._decisions()
        if not decided:
            return None
        from .._rollout.model import Rollout
        from .._rollout.rollout_result import with_ends

        ends = [one for one in self.states(is_over=is_over) if one.cluster in decided[0]["deploy"]]
        return with_ends(from_result(Rollout, decided[-1]), ends)

    def _add(self, **entry: object) -> None:
        # One write to the end of a file never mixes with those of other workers.
        number = os.open(self._file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            os.write(number, (json.dumps(entry) + "\n").encode())
        finally:
            os.close(number)

    def states(self, *, is_over: bool) -> list[ClusterState]:
        """The states of all clusters so far, in the order of their hosts; see :func:`~.cluster_state`."""
        now = time.monotonic()
        return [
            cluster_state(host, _attempts_in(entries, now), is_over=is_over)
            for host, entries in self._logged().items()
        ]

    def hosts_out(self) -> frozenset[str]:
        """The hosts whose clusters are out so far; see :func:`~.is_out`."""
        now = time.monotonic()
        logged = self._logged().items()
        return frozenset(host for host, entries in logged if is_out(list(_attempts_in(entries, now))))

    def _logged(self) -> dict[str, list[dict[str, Any]]]:
        """What counts of each host, in its order."""
        entries = [one for one in self._entries() if "attempt" in one or "rollout" in one]
        logged: dict[str, list[dict[str, Any]]] = {
            host: [] for one in entries for host in one.get("hosts", ())
        }
        for entry in entries:
            if "rollout" in entry:
                # A playbook that only decides is not cut off. One that deploys makes a further plan.
                for host in entry["rollout"]["deploy"]:
                    for planned in logged.get(host, [])[-1:]:
                        planned["ends"] = False
                continue
            own = logged.get(entry["attempt"]["cluster"], [])
            if entry["is_repeated"] and own:
                own.pop()
            own.append(entry)
        return logged

    def hops_before(self, host: str, task: object) -> tuple[Hop, ...]:
        """The hops of a host before a task, see :class:`~.cluster_state.Hop`."""
        logged = self._logged().get(host, [])
        attempts = list(_attempts_in(logged[:-1] if task is self._writer else logged, time.monotonic()))
        return next((one.hops for one in reversed(attempts) if one.hops), ())

    def seconds_of_run(self, host: str) -> float:
        """How long the last run of a host has taken so far, with its plan; 0 if none has begun."""
        attempts = reversed(list(_attempts_in(self._logged().get(host, []), time.monotonic())))
        return next((one.seconds for one in attempts if one.state == RUNNING), 0.0)

    def summary(self) -> PlaybookSummary:
        """The end of the playbook, with commands that reach its clusters from any shell."""
        # Imported here, as only the end of a playbook needs it.
        from .._last_lines.playbook_summary import summarize

        logged, states = self._logged(), self.states(is_over=True)
        targets: dict[str, CommandTarget] = {}
        for state in states:
            own = [one for one in logged[state.cluster] if one["counts"]]
            # An attempt without an end, or a cluster whose turn never came, has no such entry.
            given: Mapping[str, Any] = next(
                (one["target"] for one in reversed(own) if one["attempt"]["state"] == state.state), {}
            )
            targets[state.cluster] = CommandTarget(**given) if given else CommandTarget(context=PLACEHOLDER)
        reports = [one["report"] for one in self._entries() if "report" in one]
        return summarize(
            states,
            lambda cluster, command: str(replace(targets[cluster], note="").complete(command)),
            next(iter(reports[-1:]), ""),
            self.rollout_steps(is_over=True),
            {cluster: target.note for cluster, target in targets.items()},
        )

    def _decisions(self) -> list[dict[str, Any]]:
        return [one["rollout"] for one in self._entries() if "rollout" in one]

    def rollout_steps(self, *, is_over: bool) -> list[NextStep]:
        """What a rollout over rings needs next; nothing without rings."""
        rollout = self.rollout(is_over=is_over)
        if not rollout:
            return []
        from .._rollout.next_call import AGAIN, DEPLOY, FOR_REAL, Call, rollout_steps

        decided = self._decisions()
        idle = [one.cluster for one in self.states(is_over=is_over) if one.state in DECIDABLE_STATES]
        has_deployed = len(decided) > 1 or _has_moved(rollout, decided[0])
        inventory, given = (context.CLIARGS.get(one) or () for one in ("inventory", "extra_vars"))
        # Other variables may be secrets.
        files = [one for one in given if isinstance(one, str) and one.startswith("@")]
        next_call = FOR_REAL if context.CLIARGS.get("check") else AGAIN if has_deployed else DEPLOY
        return rollout_steps(rollout, Call(next_call, idle, inventory, files))

    @property
    def _file(self) -> Path:
        return Path(C.DEFAULT_LOCAL_TMP) / NAME

    def _entries(self) -> Iterator[dict[str, Any]]:
        with suppress(OSError):
            for line in self._file.read_text("utf-8").splitlines():
                # A worker that was killed, or a full disk, cuts a line off.
                with suppress(ValueError):
                    yield json.loads(line)

    def _print_end(self) -> None:
        if os.getpid() != self._owner or not self._logged():
            return
        from .._last_lines.closing_lines import render_summary

        summary = self.summary()
        # Ansible takes narrow terminals for wider ones.
        lines = render_summary(summary, get_terminal_size().columns, warnings=self.warnings())
        if rollout := self.rollout(is_over=True):
            if _has_moved(rollout, self._decisions()[0]):
                print_banner("ROLLOUT")
                _print_rollout(rollout, is_over=True)
        elif len(summary.clusters) > 1:
            print_banner("CLUSTERS")
            # Imported here, because a run on one cluster prints no table.
            from .._last_lines.cluster_table import render_clusters

            print_block(render_clusters(summary.clusters))
        if rollout or len(summary.clusters) > 1:
            # Ansible's recap ends with an empty line, and the table does not.
            print_line("")
        lines += dict.fromkeys(one["file"] for one in self._entries() if "file" in one)
        is_bad = any(one.state in REASONED_STATES for one in summary.clusters)
        print_block(lines, title_color=C.COLOR_ERROR if is_bad else C.COLOR_OK)


def _print_rollout(rollout: Rollout, *, is_over: bool) -> None:
    from .._rollout.ring_views import ring_views
    from .._rollout.rollout_table import render_rollout

    display = Display()
    rings = ring_views(rollout, is_whole=display.verbosity > 0, is_over=is_over)
    print_block(render_rollout(rings, display.columns + 1))


def _has_moved(rollout: Rollout, first: Mapping[str, Any]) -> bool:
    """Whether a ring or a cluster has another state than by the first decision."""
    return _states_in(to_result(rollout)) != _states_in(first)


def _states_in(rollout: Mapping[str, Any]) -> list[object]:
    return [(ring["state"], [one["state"] for one in ring["clusters"]]) for ring in rollout["rings"]]


def _attempts_in(entries: Sequence[Mapping[str, Any]], now: float) -> Iterator[ClusterState]:
    """The attempts of a host; a run has taken the time until the next of them, or until now."""
    counted = [entry for entry in entries if entry["counts"]]
    ends = [*(entry["at"] for entry in counted[1:]), now]
    for entry, end in zip(counted, ends, strict=False):
        attempt = from_result(ClusterState, entry["attempt"])
        elapsed = end - entry["at"] if attempt.state == RUNNING else 0.0
        seconds = round(attempt.seconds + elapsed, 3)
        yield replace(attempt, seconds=seconds, ends_with_playbook=entry["ends"])


CLUSTER_LOG = ClusterLog()
