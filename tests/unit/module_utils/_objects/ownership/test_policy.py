# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a user allows, as kinds and as single objects."""

from __future__ import annotations

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.ownership.policy import allowed_problem


@pytest.mark.parametrize(
    "entry",
    [
        "Job",
        "StatefulSet kyma-system/nats",
        "Namespace kiali",
        "CustomResourceDefinition functions.serverless.kyma-project.io",
        "ClusterRole system:a b",
        "Gateway",
        "Gateway kyma-system/kyma",
        "ClusterIssuer letsencrypt",
    ],
)
def test_kinds_and_objects(entry: str) -> None:
    assert allowed_problem(entry) == ""


@pytest.mark.parametrize(
    ("entry", "form"),
    [
        ("StatefulSet kyma-system/nats ", "StatefulSet kyma-system/nats"),
        ("StatefulSet kyma-system/nats,Job", "StatefulSet kyma-system/nats"),
        ("StatefulSet.apps/kyma-system/nats", "StatefulSet kyma-system/nats"),
        ("StatefulSet/kyma-system/nats", "StatefulSet kyma-system/nats"),
        ("statefulset kyma-system/nats", "StatefulSet kyma-system/nats"),
        ("statefulsets.apps kyma-system nats", "StatefulSet kyma-system/nats"),
        ("StatefulSet  kyma-system/nats", "StatefulSet kyma-system/nats"),
        ("StatefulSet nats", "StatefulSet namespace/nats"),
        ("Statefulset", "StatefulSet"),
        (" Job", "Job"),
        ("Namespace/kiali", "Namespace kiali"),
        ("Namespace kyma-system/kiali", "Namespace kiali"),
        ("kyma-system/nats", "StatefulSet kyma-system/eventing-nats"),
        ("gateway", "StatefulSet"),
        ("", "StatefulSet"),
    ],
)
def test_other_entries_and_their_right_form(entry: str, form: str) -> None:
    problem = allowed_problem(entry)
    assert problem.startswith(f"{entry!r} is neither a kind nor an object of a kind: write ")
    assert repr(form) in problem
