# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Access reviews of a cluster in memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.wrapper import Call, ClusterWrapper
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.memory_cluster import (
    MemoryCluster,
)

T = TypeVar("T")


class ReviewedCluster(ClusterWrapper):
    """A cluster whose access reviews deny one verb on one resource."""

    def __init__(self, inner: MemoryCluster, verb: str, resource: str) -> None:
        super().__init__(inner)
        self._denied = (verb, resource)

    def _through(self, call: Call, ask: Callable[[], T]) -> T:
        if call.kind == "SelfSubjectReview":
            return cast("T", {"status": {"userInfo": {"username": "jane"}}})
        if call.kind != "SelfSubjectAccessReview":
            return ask()
        assert call.obj
        attributes = call.obj["spec"]["resourceAttributes"]
        is_allowed = (
            attributes["verb"] != "*" and (attributes["verb"], attributes["resource"]) != self._denied
        )
        return cast("T", {**call.obj, "status": {"allowed": is_allowed}})
