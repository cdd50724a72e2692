# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What people are shown of a change, and what they are not."""

from __future__ import annotations

from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.apply.diff import (
    changed_fields,
    diff_of,
)


def test_fields_are_named_by_their_paths() -> None:
    before = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "a", "resourceVersion": "1"},
    }
    after = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "a", "resourceVersion": "2"}}
    before["spec"] = {"replicas": 1, "containers": [{"name": "x", "image": "i"}], "args": ["a"]}
    after["spec"] = {"replicas": 1, "containers": [{"name": "x", "image": "j"}], "args": ["b"], "new": 1}
    assert changed_fields(before, after) == ["spec.containers[x].image", "spec.args", "spec.new"]


def test_no_value_of_a_secret_is_shown() -> None:
    def secret(**data: str) -> dict:
        return {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": "s", "namespace": "n"},
            "data": data,
        }

    diff = diff_of(secret(a="canary1", b="canary2"), secret(a="canary1", b="canary3", c="canary4"))
    assert "canary" not in str(diff)
    assert "b: '*** (hidden, changed)'" in diff["after"]
    assert "a: '*** (hidden)'" in diff["after"]
    assert diff_of(None, secret(a="canary"))["before"] == ""


def test_no_unencoded_or_last_applied_value_of_a_secret_is_shown() -> None:
    annotations = {"kubectl.kubernetes.io/last-applied-configuration": '{"data":{"a":"canary1"}}', "b": "c"}
    before = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "s", "namespace": "n", "annotations": annotations},
        "data": {"a": "canary1"},
    }
    diff = diff_of(before, {**before, "stringData": {"a": "canary2"}})
    assert "canary" not in str(diff)
    assert "b: c" in diff["after"]
    assert "canary" not in str(diff_of(before, None))
