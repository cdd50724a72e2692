# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Problems of a migration that must not change a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Cluster, Object
from ansible_collections.kyma.lifecycle.plugins.module_utils.migration import Component, Migration

from .api_server import ApiServer, InMemory
from .attempt_record import attempt_migration
from .case import Case, build_environment
from .recorded_cluster import describe_call


def problems_at_rest(
    migration: type[Migration],
    state: Sequence[Object],
    verdict: str,
    names: Sequence[str],
    *,
    variables: Mapping[str, Any] | None = None,
    components: Sequence[Component] | Mapping[str, Component] = (),
    release: str = "1.0",
    profile: str = "",
    crds: Sequence[Object] = (),
    prepare: Callable[[Cluster], None] | None = None,
    max_requests: int = 3,
    seconds: float | None = None,
    server: ApiServer | None = None,
) -> Iterator[str]:
    """The problems if a verdict other than needed is expected; see ``assert_not_needed``."""
    where = server or InMemory()
    around = build_environment(
        migration,
        state,
        components=components,
        release=release,
        profile=profile,
        variables=variables,
        seconds=seconds or where.seconds,
        waits=where.waits,
    )
    case = Case(migration, state, state, where, around, crds=crds, prepare=prepare)
    cluster = case.start()
    attempt = attempt_migration(migration, cluster, around)
    calls = attempt.recording.calls
    if attempt.error:
        yield attempt.error
        return
    if attempt.verdict != verdict:
        yield f"check has to say {verdict}, and said {attempt.reason}"
        return
    evidence = attempt.verdicts[0].evidence
    yield from (f"its evidence has to name {name!r}: {evidence!r}" for name in names if name not in evidence)
    for call in calls:
        if call.writes:
            yield f"check made this request, and may only read: {describe_call(call)}"
    if len(calls) > max_requests:
        listed = ", ".join(describe_call(call) for call in calls[:10])
        yield f"check made {len(calls)} requests, and {max_requests} are allowed ({listed})"
