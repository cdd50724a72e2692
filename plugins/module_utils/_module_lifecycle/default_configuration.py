# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Creates the default configuration of a module, once.

A run records that it is about to create it, creates it, and records its uid. A run that was killed in between
has left an object that our own field manager created: the next run finds it by that.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from .._cluster.cluster import Cluster, Object, manager_of, ref_of
from .._cluster.errors import AlreadyExists, ClusterError, Forbidden, KindNotServed, may_have_acted
from .._cluster.fields.written_by import is_written_by, with_writer
from .denial import PREFIX

CONFIGURATION_MANAGER = manager_of("default-configuration")
"""The field manager that creates default configurations, and writes nothing else."""
RETRY_SECONDS = 1.0


class ConfigurationHeld(ClusterError):
    """The earlier default configuration is still being deleted, so the new one was not created."""


def create_configuration(
    cluster: Cluster,
    obj: Object,
    *,
    deadline: float,
    cancelled: Callable[[], bool] = lambda: False,
    waits: bool = True,
) -> str:
    """Create the default configuration, or find the one that an interrupted run has created.

    Three states are temporary, so the creation is retried. An operator that starts may not serve its webhooks
    or its kinds yet. An object with the same name may still be being deleted. A denial that was just lifted
    stays in force for about a second.

    Args:
        cluster: the live one.
        obj: the template's configuration, or the user's replacement, with its namespace. The record that it
            is requested must have been written.
        deadline: when to give up, on the clock of ``time.monotonic()``.
        cancelled: whether to give up.
        waits: whether to wait until an object with the same name is deleted.

    Returns:
        Its uid; empty if another user created an object of that name.

    Raises:
        ConfigurationHeld: an object with the same name is still being deleted.
        ClusterError: the server refuses it, or could not create it before the deadline.
    """
    writer = cluster.with_field_manager(CONFIGURATION_MANAGER)
    while True:
        held: Object | None = None
        try:
            return str(writer.create(with_writer(obj))["metadata"]["uid"])
        except AlreadyExists:
            held = _find(cluster, obj)
            if held is not None and not (meta := held["metadata"]).get("deletionTimestamp"):
                return str(meta["uid"]) if is_written_by(meta, CONFIGURATION_MANAGER) else ""
            problem = "one of that name is still being deleted" + _held_by(held)
        except KindNotServed as error:
            problem = str(error)
        except Forbidden as error:
            if PREFIX not in error.api_message:
                raise
            problem = str(error)
        except ClusterError as error:
            if not may_have_acted(error):
                raise
            problem = str(error)
        if cancelled():
            raise ClusterError(f"the run was cancelled before {ref_of(obj)} was created: {problem}")
        is_late = time.monotonic() >= deadline
        if held is not None and (is_late or not waits):
            raise ConfigurationHeld(
                f"the default configuration {ref_of(obj)} is not created yet: {problem}. The operator has to"
                " remove its finalizers. The next run creates the configuration"
            )
        if is_late:
            raise ClusterError(
                f"the default configuration {ref_of(obj)} could not be created in time: {problem}. Find out"
                " why, and run the playbook again"
            )
        time.sleep(RETRY_SECONDS)


def _find(cluster: Cluster, obj: Object) -> Object | None:
    ref = ref_of(obj)
    return cluster.get(obj["apiVersion"], ref.kind, ref.name, ref.namespace)


def _held_by(live: Object | None) -> str:
    finalizers = live["metadata"].get("finalizers") if live else None
    return f", held by {', '.join(finalizers)}" if finalizers else ""
