# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The modules that the Kyma resource names, in the shapes that KLM and its users write."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._module_lifecycle._klm.kyma_resource import (
    KYMA,
    named_modules,
    read_klm_modules,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.memory_cluster import (
    MemoryCluster,
)

from tests.support.klm import Klm

ISTIO, KEDA = {"name": "istio"}, {"name": "keda", "state": "Unmanaged"}
SPEC, STATUS = "spec.modules", "status.modules"


@pytest.mark.parametrize(
    ("kyma", "named"),
    [
        (None, {}),
        ({}, {}),
        ({"spec": {"channel": "fast"}}, {}),
        ({"spec": {"modules": None}, "status": {"modules": []}}, {}),
        ({"spec": {"modules": [ISTIO]}}, {"istio": SPEC}),
        ({"status": {"modules": [KEDA]}}, {"keda": STATUS}),
        (
            {"spec": {"modules": [ISTIO]}, "status": {"modules": [ISTIO, KEDA]}},
            {"istio": SPEC, "keda": STATUS},
        ),
    ],
)
def test_a_module_is_named_in_the_spec_or_in_the_status(kyma: Any, named: dict[str, str]) -> None:
    assert named_modules(kyma) == named


def test_no_resource_is_read_where_the_kind_is_not_served() -> None:
    cluster = MemoryCluster()
    assert read_klm_modules(cluster) == {}
    assert [one for one in cluster.requests if one.ref.kind == KYMA.kind] == []
    klm = Klm(cluster)
    klm.install()
    assert read_klm_modules(cluster) == {}
    klm.wants("keda")
    klm.reports("istio")
    assert read_klm_modules(cluster) == {"keda": SPEC, "istio": STATUS}
