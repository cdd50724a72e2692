# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Errands that tools apply again and again, on a real API server: no conflict, and no second run."""

from __future__ import annotations

import time

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.errand_model import Errand, errand_from
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.reconciler import (
    Reconciler,
    read_index,
    reconcile_all,
)

from .conftest import ERRAND, Author

pytestmark = pytest.mark.cluster

LONGEST_SECONDS = 60.0


def declared(strategy: str, namespace: str) -> Object:
    container = {"name": "main", "image": "example.com/main:1"}
    pod = {"containers": [container], "restartPolicy": "Never"}
    return {
        "apiVersion": ERRAND[0],
        "kind": ERRAND[1],
        "metadata": {"name": "applied", "namespace": namespace},
        "spec": {
            "trigger": {"strategy": strategy},
            "template": {"spec": {"template": {"spec": pod}}},
        },
    }


def settled(author: Author) -> Errand:
    """The errand, once nothing is left to do about it and no run goes on."""
    deadline = time.monotonic() + LONGEST_SECONDS
    while time.monotonic() < deadline:
        index = read_index(author.api, [author.namespace])
        done, failures = reconcile_all(Reconciler(author.api, index), index.keys())
        assert failures == []
        live = author.api.get(*ERRAND, "applied", author.namespace)
        assert live is not None
        errand = errand_from(live)
        if errand.status.run and not errand.status.open_run and not any(one.steps for one in done):
            return errand
        time.sleep(0.3)
    raise AssertionError("the errand does not come to rest")


@pytest.mark.parametrize(("strategy", "afterwards"), [("once", "done"), ("now", "manual")])
def test_a_server_side_applier_has_no_conflict(author: Author, strategy: str, afterwards: str) -> None:
    """Cases 1 and 2: applied again, without force → no Job, and the tool does not fail."""
    applier = author.api.with_field_manager("some-tool")
    applier.apply(declared(strategy, author.namespace))
    first = settled(author)
    assert (first.spec.strategy, first.status.run and first.status.run.number) == (afterwards, 1)

    applier.apply(declared(strategy, author.namespace))
    second = settled(author)
    # Set back, it would be a quarrel for ever.
    assert (second.spec.strategy, second.status.run and second.status.run.number) == (strategy, 1)
    applied = applier.apply(declared(strategy, author.namespace))
    assert applied["metadata"]["resourceVersion"] == second.resource_version
