# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A module on another host gets the release in the profile that it reads from the cluster."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from ansible import constants as C
from ansible_collections.kyma.lifecycle.plugins.action.plan import ActionModule
from ansible_collections.kyma.lifecycle.plugins.module_utils._carrier.options import (
    CARRIER_ARGUMENT,
    RELEASE_BUNDLE,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._carrier.shipped_materials import (
    ShippedMaterials,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._carrier.task import Result
from ansible_collections.kyma.lifecycle.plugins.module_utils._carrier.task_call import error_result
from ansible_collections.kyma.lifecycle.plugins.module_utils._errors import LifecycleError
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._carrier.arguments import validate

NAME = "kyma.lifecycle.plan"
MANIFEST = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s}\n"
DEPLOYED = "production"


class Elsewhere(ActionModule):
    """Ships a module that reads the release, or only its fingerprint, for the deployed profile.

    Attributes:
        sent: of each call, the names of the files and the profile.
    """

    def __init__(self, workdir: Path, *, is_read: bool, options: Mapping[str, Any]) -> None:
        self._task = SimpleNamespace(
            args=dict(options), action=NAME, no_log=False, check_mode=False, collections=()
        )
        self._connection = SimpleNamespace(
            transport="ssh",
            become=None,
            _shell=SimpleNamespace(tmpdir=str(workdir), join_path=lambda *parts: str(Path(*parts))),
        )
        self._loader = None
        self._workdir = workdir
        self._is_read = is_read
        self.sent: list[tuple[list[str], str | None]] = []

    def _transfer_file(self, local_path: Any, remote_path: Any) -> None:
        shutil.copy(local_path, remote_path)

    def _transfer_data(self, remote_path: Any, _data: Any) -> None:
        Path(remote_path).touch()

    def _fixup_perms2(self, *_paths: Any, **_how: Any) -> None:
        """Leave the files as they are."""

    def _execute_module(self, *_given: Any, module_args: Mapping[str, Any], **_how: Any) -> Result:
        sent = module_args[CARRIER_ARGUMENT]
        files = sorted(path.name for path in self._workdir.iterdir() if path.name == RELEASE_BUNDLE)
        self.sent.append((files, sent.get("profile")))
        materials = ShippedMaterials(
            str(self._workdir), fingerprint=sent["fingerprint"], profile=sent.get("profile")
        ).for_profile(module_args.get("profile") or DEPLOYED)
        try:
            names = [obj["metadata"]["name"] for obj in materials.content("shop")] if self._is_read else []
        except LifecycleError as error:
            return error_result(error)
        return {"names": names, "fingerprint": materials.fingerprint()}


@pytest.fixture
def release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "cache").mkdir()
    monkeypatch.setattr(C, "DEFAULT_LOCAL_TMP", str(tmp_path / "cache"))
    folder = tmp_path / "kyma-2.9"
    for profile in ("production", "evaluation"):
        (folder / profile).mkdir(parents=True)
        (folder / profile / "shop.yaml").write_text(MANIFEST % profile)
    (folder / "components.yaml").write_text("components:\n- name: shop\n")
    return folder


def ship(release: Path, *, is_read: bool = True, **options: Any) -> tuple[Elsewhere, Result]:
    workdir = release.parent / "workdir"
    workdir.mkdir()
    given = {"release": str(release), **options}
    carrier = Elsewhere(workdir, is_read=is_read, options=given)
    arguments = validate(ActionModule.definition, given, NAME)
    return carrier, carrier.ship(arguments, {}, background=False)


def test_the_release_is_sent_when_the_module_has_read_the_profile(release: Path) -> None:
    carrier, result = ship(release)
    assert carrier.sent == [([], None), ([RELEASE_BUNDLE], DEPLOYED)]
    assert result["names"] == [DEPLOYED]


def test_nothing_is_rendered_or_sent_if_the_fingerprint_is_enough(release: Path) -> None:
    carrier, result = ship(release, is_read=False)
    assert carrier.sent == [([], None)]
    assert result["fingerprint"]
    assert not [*(release.parent / "cache").glob("*.bundle")]


def test_the_release_is_sent_at_once_in_the_profile_that_the_user_names(release: Path) -> None:
    carrier, result = ship(release, profile="evaluation")
    assert carrier.sent == [([RELEASE_BUNDLE], "evaluation")]
    assert result["names"] == ["evaluation"]
