# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The layout of a release: the conventions, and nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from ...module_utils._release.model import ComponentEntry

MANIFESTS = (".yaml", ".yml", ".json")
KUSTOMIZATIONS = ("kustomization.yaml", "kustomization.yml", "Kustomization")
CHART = "Chart.yaml"
_LISTS = ("components.yaml", "components.yml", "components.json")
_RELEASE_FILES = ("release.yaml", "release.yml")
TELLING = (*_LISTS, *_RELEASE_FILES)
"""Files that lie in a release's directory itself."""
_INSTALLATION = Path("installation", "resources")
_CHARTS = "resources"
_CRDS = "crds"
_OF_A_CHART = {"Chart", "values", "requirements"}


@dataclass(frozen=True)
class Manifests:
    """A component that consists of plain manifests."""

    files: tuple[Path, ...]


@dataclass(frozen=True)
class Kustomization:
    """A component that kustomize renders."""

    folder: Path


@dataclass(frozen=True)
class Chart:
    """A component that Helm renders; ``values`` are the profile's files, later wins."""

    folder: Path
    values: tuple[Path, ...] = ()


ComponentSource: TypeAlias = "Manifests | Kustomization | Chart"


@dataclass(frozen=True)
class Layout:
    """A release's directory.

    Attributes:
        root: the directory.
        checkout: whether it has the layout of a Kyma 2.x checkout; most of it is then ignored.
    """

    root: Path
    checkout: bool

    def component_list(self) -> Path | None:
        return _first_file(self._installation / name for name in _LISTS)

    def release_file(self) -> Path | None:
        return _first_file(self.root / name for name in _RELEASE_FILES)

    def crd_files(self) -> tuple[Path, ...]:
        return tuple(path for path in sorted((self._installation / _CRDS).rglob("*")) if _is_manifest(path))

    def relevant(self) -> tuple[Path, ...]:
        """The files and folders with all that the conventions find."""
        if not self.checkout:
            return (self.root,)
        return (*(self.root / name for name in _RELEASE_FILES), self._installation, self.root / _CHARTS)

    def places(self, name: str, profile: str = "", source: str | None = None) -> tuple[Path, ...]:
        """The places to search for a component's content, in this order."""
        if source:
            return (self.root / source,)
        if self.checkout:
            return (self.root / _CHARTS / name,)
        of_profile = (
            [self.root / profile / f"{name}{suffix}" for suffix in (*MANIFESTS, "")] if profile else []
        )
        return (
            *of_profile,
            self.root / name,
            self.root / _CHARTS / name,
            *(self.root / f"{name}{suffix}" for suffix in MANIFESTS),
        )

    def find(self, name: str, profile: str = "", source: str | None = None) -> ComponentSource | None:
        """The content of a component: the first of its places that holds any."""
        for place in self.places(name, profile, source):
            if content := content_at(place, profile):
                return content
        return None

    def rendered_profiles(self, entries: Sequence[ComponentEntry]) -> set[str]:
        """Profiles that have content of their own: ``<profile>/<name>.yaml``, ``<name>/<profile>/``."""
        components = {entry.name for entry in entries}
        own = components | {_CHARTS, _CRDS, _INSTALLATION.parts[0]}
        # Content with a source is searched only there.
        by_name = {entry.name for entry in entries if not entry.source}
        profiles = {
            folder.name
            for folder in ([] if self.checkout else _folders(self.root))
            if folder.name not in own
            and any(content_at(folder / f"{name}{suffix}") for name in by_name for suffix in (*MANIFESTS, ""))
        }
        for place in (place for entry in entries for place in self.places(entry.name, "", entry.source)):
            content = content_at(place)
            profiles.update(
                folder.name for folder in _folders(place) if content_at(place, folder.name) != content
            )
        return profiles

    def chart_profiles(self, entries: Iterable[ComponentEntry]) -> set[str]:
        """Profiles that charts have values for."""
        return {
            path.stem.removeprefix("profile-")
            for entry in entries
            for place in self.places(entry.name, "", entry.source)
            if (place / CHART).is_file()
            for path in place.glob("*.yaml")
            if path.stem not in _OF_A_CHART
        }

    @property
    def _installation(self) -> Path:
        return self.root / _INSTALLATION if self.checkout else self.root


def layout_of(root: Path) -> Layout:
    """The layout of a release's directory: by its component list, else by the folder that a checkout has."""
    plain = Layout(root, checkout=False)
    return Layout(root, checkout=plain.component_list() is None and (root / _INSTALLATION).is_dir())


def content_at(place: Path, profile: str = "") -> ComponentSource | None:
    """The content of a file or a folder for a profile, or None if there is none."""
    if place.is_file():
        return Manifests((place,))
    if (place / CHART).is_file():
        return Chart(place, _profile_values(place, profile))
    folders = (place / profile, place) if profile else (place,)
    for folder in folders:
        if any((folder / name).is_file() for name in KUSTOMIZATIONS):
            return Kustomization(folder)
    files = [path for folder in reversed(folders) for path in _manifests_in(folder)]
    return Manifests(tuple(files)) if files else None


def _profile_values(chart: Path, profile: str) -> tuple[Path, ...]:
    if not profile or profile in _OF_A_CHART:
        return ()
    paths = (chart / f"profile-{profile}.yaml", chart / f"{profile}.yaml")
    return tuple(path for path in paths if path.is_file())


def _manifests_in(folder: Path) -> list[Path]:
    return [path for path in sorted(folder.iterdir()) if _is_manifest(path)] if folder.is_dir() else []


def _is_manifest(path: Path) -> bool:
    return path.suffix in MANIFESTS and not path.name.startswith(".") and path.is_file()


def _folders(place: Path) -> list[Path]:
    if not place.is_dir():
        return []
    return [path for path in sorted(place.iterdir()) if path.is_dir() and not path.name.startswith(".")]


def _first_file(paths: Iterable[Path]) -> Path | None:
    return next((path for path in paths if path.is_file()), None)
