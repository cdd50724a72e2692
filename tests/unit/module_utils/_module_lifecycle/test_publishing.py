# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The ModuleTemplates of installed modules in a namespace, where other clients find them."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Cluster

from tests.support.klm import DEFINITIONS, LABEL, VERSION
from tests.support.memory_modules import CATALOG, User, denials_in_force_at_once, template, user


@pytest.fixture(autouse=True)
def _denials_are_in_force_at_once() -> Iterator[None]:
    with denials_in_force_at_once():
        yield


@pytest.fixture
def publisher() -> User:
    """A user whose cluster serves ModuleTemplates."""
    first = template("1.0.0", "regular")
    first["metadata"] |= {"labels": {LABEL: "kyma", "team": "messaging"}, "annotations": {"note": "for all"}}
    publisher = user(
        catalog={**CATALOG, "documents": [["catalog", first], ["catalog", template("2.0.0", "fast")]]}
    )
    for one in DEFINITIONS:
        publisher.cluster.apply(deepcopy(one))
    return publisher


def published(cluster: Cluster) -> list[str]:
    items = cluster.list(VERSION, "ModuleTemplate").items
    return [f"{one['metadata']['namespace']}/{one['metadata']['name']}" for one in items]


def test_the_template_is_installed_replaced_and_deleted_with_its_module(publisher: User) -> None:
    assert publisher.manage(publish_namespace="community")["state"] == "succeeded"
    assert published(publisher.cluster) == ["community/nats-1.0.0"]
    [written] = publisher.cluster.list(VERSION, "ModuleTemplate").items
    assert written["spec"] == template("1.0.0", "regular")["spec"]
    assert written["metadata"]["labels"]["team"] == "messaging"
    assert LABEL not in written["metadata"]["labels"]
    assert written["metadata"]["annotations"]["note"] == "for all"
    assert not publisher.manage(publish_namespace="community")["changed"]
    publisher.manage(publish_namespace="community", channel="fast")
    assert published(publisher.cluster) == ["community/nats-2.0.0"]
    publisher.manage(publish_namespace="community", state="absent")
    assert published(publisher.cluster) == []


def test_publishing_can_begin_and_end_later(publisher: User) -> None:
    publisher.manage()
    assert published(publisher.cluster) == []
    assert publisher.manage(publish_namespace="community")["changed"]
    assert published(publisher.cluster) == ["community/nats-1.0.0"]
    publisher.manage()
    assert published(publisher.cluster) == []


def test_a_cluster_that_serves_no_templates_is_named_before_a_write() -> None:
    plain = user()
    result = plain.manage(publish_namespace="community")
    assert result["failed"]
    assert "the cluster does not serve ModuleTemplate" in result["msg"]
    assert plain.cluster.get("apps/v1", "Deployment", "nats", "kyma-system") is None
