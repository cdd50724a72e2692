# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Facts of clusters in every situation of a rollout, for tests of what is decided about them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from ansible_collections.kyma.lifecycle.plugins.plugin_utils._rollout.model import (
    ApprovalFacts,
    ClusterFacts,
    GatedRun,
    RunFacts,
)

DIGEST, OTHER_DIGEST = "d" * 64, "0" * 64
NOW = datetime(2026, 11, 27, 12, 0, tzinfo=UTC)
"""The controller's clock."""


def _facts(name: str, plan_state: str, **known: Any) -> ClusterFacts:
    release = {
        "state": plan_state,
        "previous": "1.0",
        "version": "1.1",
        "release_digest": DIGEST,
        "now": NOW,
        "unhealthy": (),
    }
    return ClusterFacts(name, **{**release, **known})


def pending(name: str, **known: Any) -> ClusterFacts:
    """A cluster with the release before."""
    return _facts(name, "planned", **{"installed_digest": OTHER_DIGEST, **known})


def done(name: str, seconds: float = 86400, **known: Any) -> ClusterFacts:
    """A healthy cluster that has had the release for some seconds, a day by default."""
    clock = known.get("now", NOW)
    deployed = {
        "previous": "1.1",
        "installed_digest": DIGEST,
        "since": clock - timedelta(seconds=seconds),
        "run": RunFacts("run-1", "succeeded", DIGEST),
    }
    return _facts(name, "unchanged", **{**deployed, **known})


def unhealthy(name: str, **known: Any) -> ClusterFacts:
    """A cluster that has the release, and a Deployment that is not available."""
    return done(name, **{"unhealthy": ("Deployment shop/checkout: 0 of 1 replicas are available",), **known})


def unrecorded(name: str, **known: Any) -> ClusterFacts:
    """A cluster to which nothing has to be deployed, and whose record has another digest."""
    return _facts(name, "unchanged", **{"installed_digest": OTHER_DIGEST, **known})


def ended(name: str, run_state: str = "failed", **known: Any) -> ClusterFacts:
    """A cluster on which a run of the release has not succeeded."""
    return pending(name, **{"installed_digest": "", "run": RunFacts("run-1", run_state, DIGEST), **known})


def refused(name: str, **known: Any) -> ClusterFacts:
    """A cluster whose plan has a blocker."""
    return _facts(name, "refused", **{"reason": "another tool owns ConfigMap shop/theme", **known})


def held(name: str, **known: Any) -> ClusterFacts:
    """A cluster that a person holds, and that has something to deploy."""
    return _facts(name, "held", **{"reason": "the cluster is held by alice", **known})


def unreachable(name: str, **known: Any) -> ClusterFacts:
    """A cluster that does not answer."""
    return ClusterFacts(name, "unreachable", **{"reason": "no answer from https://10.0.0.1", **known})


def let_in(cluster: ClusterFacts, ring: str = "rest", digest: str = DIGEST) -> ClusterFacts:
    """A cluster on which the gate of a ring has let a run begin."""
    return replace(cluster, gated_run=GatedRun(ring, digest))


def approval(ring: str, clusters: Iterable[str], **known: Any) -> ApprovalFacts:
    """An approval of the release for a ring."""
    return ApprovalFacts(**{"ring": ring, "release_digest": DIGEST, "clusters": tuple(clusters), **known})
