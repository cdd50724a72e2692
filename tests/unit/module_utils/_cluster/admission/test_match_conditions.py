# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Match conditions of webhooks, for requests that are known in part."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.admission.match_conditions import (
    UNKNOWN,
    evaluate,
)

LEASE: dict[str, Any] = {
    "request": {
        "operation": "CREATE",
        "namespace": "kyma-lifecycle",
        "resource": {"group": "coordination.k8s.io", "version": "v1", "resource": "leases"},
    },
    "object": {
        "kind": "Lease",
        "metadata": {
            "name": "deployment",
            "namespace": "kyma-lifecycle",
            "annotations": None,
            "labels": None,
        },
    },
    "oldObject": None,
}


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("request.resource.resource != 'leases'", False),
        ('!(request.resource.group == "coordination.k8s.io")', False),
        ("!request.namespace.startsWith('kyma-')", False),
        ("request.namespace.endsWith('cycle') && request.operation == 'CREATE'", True),
        ("object.metadata.namespace == 'kyma-lifecycle'", True),
        ("object.metadata['name'] in ['deployment', 'other']", True),
        ("!(request.resource.resource in ['leases', 'events'])", False),
        ("has(object.metadata.labels)", False),
        ("has(object.metadata.annotations)", False),
        ("has(object.metadata.name)", True),
        ("oldObject == null", True),
        ("request.resource.group.contains('k8s') ||\n  request.userInfo.username == 'me'", True),
        # One side decides, although the other one is unknown.
        ("request.userInfo.username == 'me' && request.namespace == 'default'", False),
        ("false && object.metadata.labels.a == 'b'", False),
        # The content of objects and the user are unknown, and CEL reports a missing key as an error.
        ("request.userInfo.username == 'me'", UNKNOWN),
        ("!('system:masters' in request.userInfo.groups)", UNKNOWN),
        ("has(object.spec)", UNKNOWN),
        ("has(object.metadata.labels.a)", UNKNOWN),
        ("has(object.metadata.uid)", UNKNOWN),
        ("object.metadata.labels.a == 'b'", UNKNOWN),
        ("oldObject.metadata.name == 'a'", UNKNOWN),
        ("request.operation == 'CREATE' ? false : true", UNKNOWN),
        ("object.metadata.name.matches('(.|.)*#')", UNKNOWN),
        ("1 + 1 == 2", UNKNOWN),
        ("'a' == 'b' == false", UNKNOWN),
        ("request.namespace ==", UNKNOWN),
        ("(" * 3000 + ")" * 3000, UNKNOWN),
        ("'!a && b' == '!a && b'", True),
    ],
)
def test_expressions(expression: str, value: object) -> None:
    assert evaluate(expression, LEASE) is value
