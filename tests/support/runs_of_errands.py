# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What must hold of the runs of errands, whatever happened to their engines: each once, and none lost.

What is counted is in the audit log of the API server, which no engine writes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from http import HTTPStatus

from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import API_VERSION
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.live_cluster import LiveCluster
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.errand_model import (
    KIND,
    ErrandPhase,
    errand_from,
)

from .audit import Request
from .started_engine import ENGINE_USER


def have_settled(api: LiveCluster, namespace: str) -> Callable[[], bool]:
    """Whether the last run of each errand has succeeded with the ConfigMap of its name as it is now."""

    def is_so() -> bool:
        versions = {
            one["metadata"]["name"]: one["metadata"]["resourceVersion"]
            for one in api.list("v1", "ConfigMap", namespace).items
        }
        return all(
            one.status.phase is ErrandPhase.SUCCEEDED
            and one.status.run is not None
            and [entry.resource_version for entry in one.status.run.configuration] == [versions[one.key.name]]
            for one in map(errand_from, api.list(API_VERSION, KIND, namespace).items)
        )

    return is_so


def assert_once(
    api: LiveCluster, requests: Sequence[Request], namespace: str, names: Iterable[str]
) -> dict[str, int]:
    """Return the number of the last run of each errand: one Job was created for each run until then.

    Args:
        api: of the cluster.
        requests: all since the errands were created.
        namespace: of the errands.
        names: of all errands of the namespace.
    """
    created = creations(requests, "jobs", namespace)
    times = {one.target: one.time for one in created}
    count = Counter(one.target for one in created)
    assert [target for target, number in count.items() if number > 1] == []
    config_maps = f"/api/v1/namespaces/{namespace}/configmaps"
    changed = {one.target: one.time for one in requests if one.uri.startswith(config_maps) and one.persists}
    runs = {
        one.key.name: one.status.run.number
        for one in map(errand_from, api.list(API_VERSION, KIND, namespace).items)
        if one.status.run
    }
    assert set(runs) == set(names)
    expected = {f"jobs {namespace}/{name}-{run}" for name, last in runs.items() for run in range(1, last + 1)}
    assert set(count) == expected, f"runs without a Job, or Jobs without a run: {set(count) ^ expected}"
    # The last run of each came after the last change of its ConfigMap.
    late = [
        name
        for name, last in runs.items()
        if times[f"jobs {namespace}/{name}-{last}"] < changed.get(f"configmaps {namespace}/{name}", 0)
    ]
    assert late == []
    return runs


def creations(requests: Sequence[Request], resource: str, namespace: str) -> list[Request]:
    """The creations of objects by the engine of the example; not those that were only tried.

    The API server answers 504 when its client is gone, whether it has created the object or not. Such a
    request counts once, if no other one has created the object: an engine was killed before the answer.

    Args:
        requests: any.
        resource: as in the address, such as `jobs`.
        namespace: of the objects.
    """
    tried = [
        one
        for one in requests
        if (one.verb, one.user, one.persists) == ("create", ENGINE_USER, True)
        and one.target.startswith(f"{resource} {namespace}/")
    ]
    answered = [one for one in tried if one.status == HTTPStatus.CREATED]
    known = {one.target for one in answered}
    cut_off = {
        one.target: one
        for one in tried
        if one.status == HTTPStatus.GATEWAY_TIMEOUT and one.target not in known
    }
    return [*answered, *cut_off.values()]
