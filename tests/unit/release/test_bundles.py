# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A rendered release survives its way to another host."""

from __future__ import annotations

from dataclasses import replace

from ansible_collections.kyma.lifecycle.plugins.module_utils._release.bundle import from_bundle, to_bundle
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
        ComponentEntry("b", "n", needs=("a",), source="x", version="1", role="r"),
    ),
    content={"a": Content((an_object("a"),), ("hook",), "da"), "b": Content((), (), "db")},
    crds=Content((an_object("c"),), (), "dc"),
    upgrades_from=("2.8",),
    kubernetes=">=1.25",
    warnings=("w",),
)


def test_nothing_is_lost() -> None:
    assert from_bundle(to_bundle(RELEASE)) == RELEASE


def test_only_some_content() -> None:
    found = from_bundle(to_bundle(RELEASE, ["b"], crds=False))
    assert found == replace(
        RELEASE, content={"b": RELEASE.content["b"]}, crds=replace(RELEASE.crds, objects=())
    )


def test_no_escapes_that_an_api_server_refuses() -> None:
    assert "😀".encode() in to_bundle(RELEASE)
