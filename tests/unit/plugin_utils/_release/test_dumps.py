# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Releases with manifests that were dumped from a cluster, or with very many objects."""

from __future__ import annotations

from pathlib import Path

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.limits import Limits
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.model import ReleaseRequest
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.release_error import ReleaseError
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._release.loader import load_release

from tests.support.small_release import Object, SmallRelease, config_map


def dumped(name: str) -> Object:
    one = config_map(name)
    return {**one, "metadata": {**one["metadata"], "uid": "u", "resourceVersion": "1"}}


def test_one_warning_names_all_files_of_a_release(tmp_path: Path) -> None:
    made = SmallRelease(tmp_path / "r")
    for name in "abc":
        made.component(name, config_map(f"{name}-1") if name == "b" else dumped(f"{name}-1"))
    (warning,) = load_release(ReleaseRequest(str(made.folder))).warnings
    files = [word.rpartition("/r/")[2] for word in warning.partition(": fields")[0].split(", ")]
    assert files == ["a/all.yaml", "c/all.yaml"]


def test_the_limit_of_objects_holds_for_all_components_together(tmp_path: Path) -> None:
    made = SmallRelease(tmp_path / "r")
    for name in "abc":
        made.component(name, config_map(f"{name}-1"), config_map(f"{name}-2"))
    assert len(load_release(ReleaseRequest(str(made.folder), limits=Limits(objects=6))).components) == 3
    with pytest.raises(ReleaseError, match=r"the release has more than 5 documents and objects\. If"):
        load_release(ReleaseRequest(str(made.folder), limits=Limits(objects=5)))
