# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Kyma 2.7 on an empty cluster: the CRD of its Jaeger is annotated as a Helm hook."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.own_cluster import OwnCluster
from tests.support.playbook_run import Playbook

pytestmark = [pytest.mark.control_plane, pytest.mark.night]


def test_kyma_2_7_is_deployed_with_its_jaeger(
    own_cluster: OwnCluster, playbook: Playbook, kyma_releases: Path
) -> None:
    outcome = playbook.deploy(kyma_releases / "2.7", profile="evaluation").succeeded()
    assert outcome.run["state"] == "succeeded"
    assert own_cluster.api.get("jaegertracing.io/v1", "Jaeger", "tracing-jaeger", "kyma-system")
    again = playbook.deploy(kyma_releases / "2.7", profile="evaluation").succeeded()
    assert (again.recap["ok"], again.recap["changed"]) == (1, 0)
