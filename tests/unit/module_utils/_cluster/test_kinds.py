# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Kubernetes' own API groups, and those that only look like them."""

from __future__ import annotations

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.kinds import built_in_kinds, is_built_in


def test_every_kind_that_each_cluster_has_is_of_a_built_in_group() -> None:
    groups = {kind.group for kind in built_in_kinds().values()}
    assert [group for group in groups if not is_built_in(group)] == []


@pytest.mark.parametrize(
    "group", ["gateway.networking.k8s.io", "snapshot.storage.k8s.io", "k8s.io", "storage", "example.com"]
)
def test_other_groups_are_not_built_in(group: str) -> None:
    assert not is_built_in(group)
