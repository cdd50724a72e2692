# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The verdict of a check in another process, with another order of sets, no environment and a later time.

That process imports the class by its name. It gets the answers to the reads of the check, and no cluster.
"""

from __future__ import annotations

import datetime
import logging
import os
import pickle
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

from ...module_utils._cluster.cluster import Cluster
from ...module_utils._cluster.wrapper import Call, ClusterWrapper, T
from ...module_utils._deep_copy import deep_copy
from ...module_utils.migration import Context, Migration

if TYPE_CHECKING:  # What it imports takes longer than the check.
    from .attempt_record import MigrationEnvironment

SECONDS = 30.0
"""Maximum time that the other process may take."""
DAYS_LATER = 1000
CHILD = f"import sys; sys.path[:] = {{!r}}; from {__name__} import answer; answer()"


def verdict_elsewhere(
    migration: type[Migration], reads: Sequence[tuple[Call, object]], around: MigrationEnvironment
) -> str:
    """The verdict of a check with its evidence, or its error.

    Empty if another process can't import the class, or if the check makes other reads there.
    """
    release = (dict(around.components), around.release, around.profile, around.variables)
    helpers = (logging.getLogger(), partial(float, SECONDS), bool, bool, bool)
    answers = {repr(call): answer for call, answer in reads}
    try:
        question = pickle.dumps((migration, answers, (*release, *helpers)))
    except (pickle.PicklingError, AttributeError, TypeError):
        return ""  # A class in a function, for example, has no name by which it can be imported.
    seed = "1" if os.environ.get("PYTHONHASHSEED") != "1" else "2"
    child = subprocess.run(
        [sys.executable, "-S", "-c", CHILD.format(sys.path)],
        input=question,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONHASHSEED": seed},
        timeout=SECONDS,
        check=False,
    )
    return child.stdout.decode()


def answer() -> None:
    """Call the check that stdin describes, and write its verdict to stdout."""
    output, sys.stdout = sys.stdout, sys.stderr
    os.environ.clear()
    later = datetime.timedelta(days=DAYS_LATER)
    clocks = {one: _shifted(getattr(datetime.datetime, one), later) for one in ("now", "utcnow")}
    vars(datetime).update(datetime=type("datetime", (datetime.datetime,), clocks))
    vars(time).update(time=_shifted(time.time, later.total_seconds()))
    migration, answers, others = _Reader(sys.stdin.buffer).load()
    try:
        verdict = migration().check(Context(_Replayed(answers), *others))
        output.write(f"{verdict.state} ({verdict.evidence!r})")
    except Exception as error:
        output.write(f"nothing, and failed ({type(error).__name__}: {error})")


def _shifted(read: Callable[..., Any], by: Any) -> Callable[..., Any]:
    return staticmethod(lambda *how, **named: read(*how, **named) + by)


class _Reader(pickle.Unpickler):
    """Reads what the parent process has written."""


class _Unrecorded:
    """Stands for a cluster. Any use of it ends the process before that has written a verdict."""

    def __getattr__(self, name: str) -> NoReturn:
        os._exit(0)


class _Replayed(ClusterWrapper):
    """A cluster that gives recorded answers. Anything else ends the process, without a verdict."""

    def __init__(self, answers: Mapping[str, Any]) -> None:
        unrecorded: Any = _Unrecorded()
        super().__init__(unrecorded)
        self._answers = answers

    def _target(self, _call: Call) -> Cluster:
        return self

    def _through(self, call: Call, _ask: Callable[[], T]) -> T:
        if repr(call) not in self._answers:
            os._exit(0)
        answer: T = deep_copy(self._answers[repr(call)])
        return answer
