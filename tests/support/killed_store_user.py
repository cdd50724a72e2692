# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A process that declares a stored job, and kills itself (SIGKILL) right after one of its writes."""

from __future__ import annotations

import multiprocessing
import os
import signal
from typing import Any

from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.connection import connect
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.wrapper import Call

from .store_user import User

SECONDS = 60
"""That such a process may take."""


def is_killed(user: User, job: dict[str, Any], write: int) -> bool:
    """Declare a job in a process that kills itself after a write; False if it ends before.

    Args:
        user: that declares it.
        job: as in the option ``jobs``.
        write: the number of the write, from 1.
    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    process = context.Process(
        target=_declare, args=(user.kubeconfig, user.namespace, job, write), daemon=True
    )
    process.start()
    process.join(SECONDS)
    assert process.exitcode in (0, -signal.SIGKILL), f"the process ended with {process.exitcode}"
    return process.exitcode != 0


def _declare(kubeconfig: str, namespace: str, job: dict[str, Any], write: int) -> None:
    writes = 0

    def die(_number: int, call: Call) -> None:
        nonlocal writes
        writes += call.writes
        if call.writes and writes == write:
            os.kill(os.getpid(), signal.SIGKILL)

    user = User(kubeconfig, namespace, connect({"kubeconfig": kubeconfig}))
    user.hooked(after=die).jobs(jobs=[job]).succeeded()
