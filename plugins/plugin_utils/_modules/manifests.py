# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Fetch the manifests that a task has asked for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from ...module_utils._release.limits import DEFAULT_LIMITS, Limits
from ...module_utils._release.release_error import ReleaseError
from ...module_utils._threads import map_in_threads
from .._release.source import parse_checksum
from .._release.yaml_files import decode_text
from .download_cache import DownloadCache
from .places import Place, read_local_file


@dataclass(frozen=True)
class FetchedManifest:
    """The text of a manifest, or the reason why there is none.

    Attributes:
        text: empty if there is none.
        error: the reason, or empty. It concerns no other manifest.
        notes: manifests to pin.
        warnings: content that may be out of date, or was not stored.
    """

    text: str = ""
    error: str = ""
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


class ManifestFetcher:
    """Fetches manifests by their links or paths.

    Args:
        cache: downloads.
        pins: the sha256 of manifests, by link or path. A pinned manifest is never read with another content.
        roots: the folder that a local manifest has to be in, by path, unless the user has named it.
        limits: of local files.

    Raises:
        ReleaseError: a pin has another form.
    """

    def __init__(
        self,
        cache: DownloadCache,
        pins: Mapping[str, str],
        roots: Mapping[str, Path] = MappingProxyType({}),
        limits: Limits = DEFAULT_LIMITS,
    ) -> None:
        self._cache = cache
        self._roots = roots
        self._limits = limits
        self._pins = {key: parse_checksum(checksum) for key, checksum in pins.items()}

    def fetch(self, keys: Iterable[str]) -> dict[str, FetchedManifest]:
        """The manifests by key: a path, or a http, https or file URL."""
        unique = list(dict.fromkeys(keys))
        return dict(zip(unique, map_in_threads(self._fetch_one, unique), strict=True))

    def _fetch_one(self, key: str) -> FetchedManifest:
        place = Place(key, self._pins.get(key, ""))
        try:
            path = place.path
            if path is not None:
                content = read_local_file(path, place, self._limits, self._roots.get(key))
                return FetchedManifest(decode_text(content, place.shown))
            downloaded = self._cache.fetch(key, place.sha256)
            text = decode_text(downloaded.content, place.shown)
            return FetchedManifest(text, notes=downloaded.notes, warnings=downloaded.warnings)
        except ReleaseError as error:
            return FetchedManifest(error=str(error))
