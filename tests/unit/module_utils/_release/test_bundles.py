# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A rendered release survives its way to another host."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.bundle import from_bundle, to_bundle
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.lazy_objects import LazyObjects
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.model import (
    ComponentEntry,
    Content,
    Release,
)


def an_object(name: str) -> dict[str, object]:
    return {
        "apiVersion": "v1",
        "kind": "A",
        "metadata": {"name": name},
        "text": "😀",
        "nested": [{"a": None}],
    }


RELEASE = Release(
    version="2.9",
    digest="d",
    profile="production",
    default_namespace="kyma-system",
    components=(
        ComponentEntry("a", "n", prerequisite=True, timeout=1.5),
        ComponentEntry("b", "n", needs=("a",), source="x", version="1", role="r", provides=("x.io",)),
    ),
    content={
        "a": Content((an_object("a"),), ("hook",), "sa", has_namespaces=False),
        "b": Content((), (), "sb"),
    },
    crds=Content((an_object("c"),), (), "sc"),
    upgrades_from=("2.8",),
    kubernetes=">=1.25",
    warnings=("w",),
)


def test_nothing_is_lost() -> None:
    assert from_bundle(to_bundle(RELEASE)) == RELEASE


def test_a_bundle_has_only_the_source_of_unread_content() -> None:
    def fail() -> Sequence[Object]:
        pytest.fail("it was read")

    unread = replace(RELEASE.content["a"], objects=LazyObjects(fail), hooks=(), is_read=False)
    release = replace(
        RELEASE,
        content={**RELEASE.content, "a": unread},
        crds=replace(RELEASE.crds, objects=LazyObjects(fail), is_read=False),
    )
    assert from_bundle(to_bundle(release)) == replace(
        release,
        content={**RELEASE.content, "a": replace(unread, objects=())},
        crds=replace(RELEASE.crds, objects=(), is_read=False),
    )


def test_no_escapes_that_an_api_server_refuses() -> None:
    assert "😀".encode() in to_bundle(RELEASE)
