# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._carrier.options import (
    CATALOG,
    MIGRATIONS_ARCHIVE,
    RELEASE_BUNDLE,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._carrier.shipped_materials import (
    MissingMaterial,
    ShippedMaterials,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._errors import LifecycleError
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.bundle import (
    BadBundle,
    read_bundle_file,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.model import Release, ReleaseRequest
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._carrier.carrier import send_catalog
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._carrier.materials import (
    ControllerMaterials,
    NoRelease,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._release import loader
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._release.cache import ReleaseCache
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._release.fingerprint import release_digest
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._release.loader import load_release

MIGRATION = '''
from ansible_collections.kyma.lifecycle.plugins.module_utils.migration import Migration, Phase, not_needed


class MoveThings(Migration):
    """Things must be moved."""

    component = "logging"
    phase = Phase.PRE
    keep = "for tests"

    def check(self, ctx):
        return not_needed("they are")

    def run(self, ctx):
        pass
'''


@pytest.fixture
def release(tmp_path: Path) -> ReleaseRequest:
    root = tmp_path / "kyma-2.9"
    (root / "logging").mkdir(parents=True)
    (root / "components.yaml").write_text("components:\n- name: logging\n")
    (root / "logging" / "a.yaml").write_text(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {key: välue}\n"
    )
    return ReleaseRequest(str(root))


@pytest.fixture
def cache(tmp_path: Path) -> ReleaseCache:
    (tmp_path / "cache").mkdir()
    return ReleaseCache(tmp_path / "cache", print)


def test_shipped_materials_equal_those_of_the_controller(
    tmp_path: Path, release: ReleaseRequest, cache: ReleaseCache
) -> None:
    folder = tmp_path / "kyma_migrations"
    folder.mkdir()
    (folder / "things.py").write_text(MIGRATION)
    here = ControllerMaterials(release, migration_folders=[str(folder)], bundles=cache)

    workdir = tmp_path / "workdir"
    workdir.mkdir()
    (workdir / RELEASE_BUNDLE).write_bytes(here.release_bundle().read_bytes())
    (workdir / MIGRATIONS_ARCHIVE).write_bytes(here.migrations_archive())
    there = ShippedMaterials(str(workdir), fingerprint=here.fingerprint(), profile="")

    assert there.release() == here.release()
    assert there.fingerprint() == here.fingerprint()
    assert there.release_digest() == here.release_digest() == release_digest(release)
    assert [m.id() for m in there.migrations().migrations] == [m.id() for m in here.migrations().migrations]
    assert "logging/move-things" in {m.id() for m in here.migrations().migrations}
    assert there.migrations().searched == here.migrations().searched
    assert there.migrations().code == here.migrations().code
    assert str(folder) in here.migrations().code


def test_the_version_is_read_without_rendering(release: ReleaseRequest) -> None:
    (Path(release.source) / "logging" / "a.yaml").write_text("this is: [no manifest")
    assert ControllerMaterials(release).version() == "2.9"
    (Path(release.source) / "release.yaml").write_text("version: '2.9.0'\n")
    assert ControllerMaterials(release).version() == "2.9.0"


def test_other_releases_at_hand_are_shipped_too(
    tmp_path: Path, release: ReleaseRequest, cache: ReleaseCache
) -> None:
    newer = shutil.copytree(release.source, tmp_path / "kyma-2.10")
    (newer / "release.yaml").write_text("version: '2.10'\nupgrades_from: ['2.9']\n")
    broken = shutil.copytree(release.source, tmp_path / "kyma-2.8")
    (broken / "logging" / "a.yaml").write_text("kind: [")
    here = ControllerMaterials(release, bundles=cache, catalog=[])
    assert [one.version for one in here.available_releases()] == ["2.10", "2.8", "2.9"]
    workdir = tmp_path / "workdir"
    workdir.mkdir()
    listed = send_catalog(here, lambda file, name: shutil.copy(file, workdir / name))
    (workdir / CATALOG).write_bytes(listed)
    sent = ShippedMaterials(str(workdir), fingerprint=here.fingerprint(), profile="")
    there = {one.version: one for one in sent.available_releases()}
    assert set(there) == {"2.10", "2.9"}
    assert there["2.10"].upgrades_from == ("2.9",)
    assert there["2.10"].options["release"] == str(newer)
    assert there["2.10"].materials.release() == here.available_releases()[0].materials.release()
    assert there["2.10"].materials.fingerprint() == here.available_releases()[0].materials.fingerprint()


def test_no_other_release_is_at_hand_unless_asked_for(release: ReleaseRequest, tmp_path: Path) -> None:
    assert ControllerMaterials(release).available_releases() == []
    assert ShippedMaterials(str(tmp_path)).available_releases() == ()


def test_a_release_is_rendered_once_in_a_run(
    release: ReleaseRequest, cache: ReleaseCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    loads: list[str] = []

    def load(request: ReleaseRequest, *more: Any) -> Release:
        loads.append(request.profile)
        return load_release(request, *more)

    monkeypatch.setattr(loader, "load_release", load)
    first, second = ControllerMaterials(release, bundles=cache), ControllerMaterials(release, bundles=cache)
    assert first.release() == second.release()
    assert loads == [""]


def test_a_changed_release_is_rendered_again(release: ReleaseRequest, cache: ReleaseCache) -> None:
    before = ControllerMaterials(release, bundles=cache).release()
    file = Path(release.source, "logging", "a.yaml")
    file.write_text(file.read_text() + "immutable: true\n")
    assert ControllerMaterials(release, bundles=cache).release() != before


def test_a_bundle_is_for_its_owner_only(release: ReleaseRequest, cache: ReleaseCache) -> None:
    assert ControllerMaterials(release, bundles=cache).release_bundle().stat().st_mode & 0o777 == 0o600


def test_a_missing_release_is_an_error() -> None:
    with pytest.raises(NoRelease, match=r"release \(kyma_release\) is not set"):
        ControllerMaterials(None).release()
    with pytest.raises(MissingMaterial, match="set the option release"):
        ShippedMaterials("/nonexistent").release()
    with pytest.raises(MissingMaterial):
        ShippedMaterials(None).migrations()


@pytest.mark.parametrize(
    "spoil", [lambda data: data[:-20], lambda _request: b"nonsense", lambda _request: b""]
)
def test_a_bundle_that_was_cut_off(
    release: ReleaseRequest, cache: ReleaseCache, spoil: Callable[[bytes], bytes]
) -> None:
    bundle = ControllerMaterials(release, bundles=cache).release_bundle()
    bundle.write_bytes(spoil(bundle.read_bytes()))
    with pytest.raises(BadBundle, match=str(bundle)):
        read_bundle_file(bundle)


def test_errors_derive_from_ours() -> None:
    assert issubclass(BadBundle, LifecycleError)


def test_migrations_in_a_release_are_never_loaded(
    tmp_path: Path, release: ReleaseRequest, cache: ReleaseCache
) -> None:
    folder = Path(release.source) / "kyma_migrations"
    folder.mkdir()
    (folder / "things.py").write_text(MIGRATION)
    here = ControllerMaterials(release, bundles=cache)
    shipped = tmp_path / "shipped"
    shipped.mkdir()
    (shipped / MIGRATIONS_ARCHIVE).write_bytes(here.migrations_archive())
    for migration_set in (here.migrations(), ShippedMaterials(str(shipped)).migrations()):
        assert "logging/move-things" not in {one.id() for one in migration_set.migrations}
        assert not any(release.source in place for place in migration_set.searched)
