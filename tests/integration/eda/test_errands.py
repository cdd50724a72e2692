# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A rule of a user's acts on the outcomes of errands that ansible-rulebook runs."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.errand_definition import (
    ERRAND_KINDS,
)

from tests.support.own_cluster import OwnCluster, new_cluster
from tests.support.rulebook_run import RulebookRunner

pytestmark = [pytest.mark.control_plane, pytest.mark.rulebook]

RULEBOOK = """
- name: outcomes of errands
  hosts: all
  sources:
    - kyma.lifecycle.errands:
        kubeconfig: "{{ kubeconfig }}"
  rules:
    - name: an errand has succeeded
      condition: event.state == "succeeded"
      action:
        debug: {msg: "rule: {{ event.namespace }}/{{ event.name }} run {{ event.run }} succeeded"}
"""


def errand(name: str) -> dict[str, object]:
    container = {"name": "main", "image": "busybox", "command": ["true"]}
    return {
        "apiVersion": "lifecycle.kyma-project.io/v1",
        "kind": "Errand",
        "metadata": {"name": name, "namespace": "shop"},
        "spec": {
            "trigger": {"strategy": "once"},
            "template": {"spec": {"template": {"spec": {"containers": [container]}}}},
        },
    }


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OwnCluster]:
    with new_cluster(tmp_path_factory.mktemp("cluster")) as started:
        ERRAND_KINDS.install(started.api)
        started.api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}})
        yield started


def test_a_rule_acts_on_an_errand_that_has_succeeded(
    cluster: OwnCluster, rulebook_runner: RulebookRunner
) -> None:
    cluster.api.create(errand("seed"))
    with rulebook_runner.running(RULEBOOK, "-v", variables={"kubeconfig": str(cluster.kubeconfig)}) as run:
        run.wait_for("^rule: shop/seed run 1 succeeded$")
        # While it watches, one more is noticed without a new start.
        cluster.api.create(errand("second"))
        run.wait_for("^rule: shop/second run 1 succeeded$")
        assert run.stop() == 0
    assert "has not ended within" not in run.text
