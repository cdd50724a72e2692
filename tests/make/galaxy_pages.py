# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The pages that Galaxy shows. It resolves no relative link, so theirs lead to the site or the repository."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import PurePosixPath

from .site.pages import IMAGES, map_links, page_of, without_code

SHOWN = re.compile(r"README\.md|docs/[^/]+\.md|roles/[^/]+/README\.md")
"""The paths of pages that Galaxy shows: other pages are only in the tarball."""
ON_SITE = frozenset({".md", ".rst"})
RAW = "https://raw.githubusercontent.com/"
GITHUB = "https://github.com/"
_RELATIVE = r"(?!(?:https?|mailto):)"
_LINKS = (
    re.compile(rf"\]\(\s*+<?+{_RELATIVE}([^)]*)"),
    re.compile(rf"^ *\[[^\]]+\]:[ \t]++<?+{_RELATIVE}(.+)", re.MULTILINE),
    re.compile(rf"\b(?:href|src|srcset)\s*=\s*+[\"']?+{_RELATIVE}([^\s\"'>]*)"),
)
"""A link or a picture, the definition of a reference, and HTML, each with a relative address."""


@dataclass(frozen=True)
class Home:
    """Where a version of the collection is in the web.

    Attributes:
        repository: the address of the repository.
        site: the address of the site, which has a folder for each version.
        version: the version, which is the name of its tag, too.
        folders: the paths of all folders of the collection.
    """

    repository: str
    site: str
    version: str
    folders: Collection[str]

    def address_of(self, path: str) -> str:
        """The address of a file or a folder: of its page on the site, or of its content at the tag."""
        place = PurePosixPath(path)
        if place.suffix in IMAGES:
            return f"{self.repository.replace(GITHUB, RAW, 1)}/{self.version}/{path}"
        if place.suffix in ON_SITE:
            return f"{self.site}/{self.version}/{page_of(place).with_suffix('.html')}"
        return f"{self.repository}/{'tree' if path in self.folders else 'blob'}/{self.version}/{path}"


def with_absolute_links(text: str, page: str, home: Home) -> str:
    """The Markdown of a page without relative links, except those that `relative_links` lists then.

    Args:
        text: of the page.
        page: its path in the collection.
        home: where the collection is in the web.
    """

    def new_address(place: str, anchor: str) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(page), place)) if place else page
        return f"{home.address_of(target)}{anchor}"

    return map_links(text, new_address)


def relative_links(text: str) -> list[str]:
    """The addresses of all relative links and pictures in the Markdown of a page, in any notation."""
    visible = without_code(text)
    return [address.strip() for form in _LINKS for address in form.findall(visible)]
