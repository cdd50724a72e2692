# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The pages of the site: where each one is, and the Markdown of the repository with links between them."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import PurePosixPath

DOCS = PurePosixPath("docs")
PLUGINS = "collection"
"""The folder of the pages that antsibull-docs writes."""
GENERATED_MARK = "<!-- generated pages of the site -->"
"""Follows the table of the first page that lists, on the site, the pages that the repository has not."""
GENERATED_ROWS = f"""\
| [Modules and roles]({PLUGINS}/index.rst) | each option, return value and example |
| [`kyma_result`](kyma_result.md) | each field of the result of a role |
| [Records](records.md) | each kind of custom resource, with every field |"""
IMAGES = frozenset({".cast", ".png", ".svg"})
"""Pictures and recordings, which the site has as they are."""
LANGUAGES = {
    ".py": "python",
    ".yml": "yaml",
    ".yaml": "yaml",
    ".json": "json",
    ".ini": "ini",
    ".service": "ini",
}

_CODE = re.compile(r"(^ *(`{3,}).*?^ *\2 *$|`[^`\n]*`|<!--.*?-->)", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\((?!https?:|mailto:)([^)#\s]*)((?:#[^)\s]+)?)\)")
_SECTION = re.compile(r"^## (.+)$", re.MULTILINE)
_ENTRY = re.compile(r"^\| \[([^\]]+)\]\(([^)#:]+)\)", re.MULTILINE)


def page_of(path: PurePosixPath) -> PurePosixPath:
    """The place in the site's source of a file or folder of the repository."""
    if path == PurePosixPath("README.md"):
        return PurePosixPath("overview.md")
    if path.parts[:2] == ("plugins", "modules"):
        return PurePosixPath(PLUGINS, f"{path.stem}_module.rst")
    if path.suffix in IMAGES:
        return path.relative_to(DOCS)
    if path.suffix not in (".md", ".rst"):
        return PurePosixPath("files", f"{path}.md")
    inner = path.relative_to(DOCS) if path.is_relative_to(DOCS) else path
    return inner.with_name("index.md") if inner.name == "README.md" else inner


def rewrite_links(text: str, page: PurePosixPath, targets: set[PurePosixPath]) -> str:
    """The Markdown of a page with links to the pages of the site.

    Args:
        text: of the page.
        page: its path in the repository.
        targets: gets the path of each target in the repository.
    """

    def new_address(place: str, anchor: str) -> str:
        if not place:
            return anchor
        target = PurePosixPath(posixpath.normpath(page.parent / place))
        targets.add(target)
        return f"{posixpath.relpath(page_of(target), page_of(page).parent)}{anchor}"

    return map_links(text, new_address)


def map_links(text: str, new_address: Callable[[str, str], str]) -> str:
    """The Markdown of a page with other addresses in its relative links, outside of code and comments.

    Args:
        text: of the page.
        new_address: returns the address for a path and an anchor, each of which may be empty.
    """

    def new_link(match: re.Match[str]) -> str:
        return f"]({new_address(match[1], match[2])})"

    return "".join(part if is_code else _LINK.sub(new_link, part) for part, is_code in _parts(text))


def without_code(text: str) -> str:
    """The Markdown of a page without code and comments."""
    return "".join(part for part, is_code in _parts(text) if not is_code)


def _parts(text: str) -> Iterator[tuple[str, bool]]:
    """The parts of a page in their order, and whether each is code or a comment."""
    # Each match of _CODE adds two parts: the code, and its fence.
    for place, part in enumerate(_CODE.split(text)):
        if part and place % 3 != 2:
            yield part, place % 3 == 1


def with_generated_rows(text: str) -> str:
    """The Markdown of the first page with links to the pages that only the site has."""
    return text.replace(GENERATED_MARK, GENERATED_ROWS)


def navigation(text: str) -> str:
    """The tables of contents of an index page: one for each section with links to pages in a table.

    Args:
        text: Markdown whose links lead to pages of the site.
    """
    first, *rest = _SECTION.split(text)
    sections = [("", first), *zip(rest[::2], rest[1::2], strict=True)]
    trees = []
    for caption, section in sections:
        entries = [
            (title.replace("`", ""), posixpath.splitext(place)[0]) for title, place in _ENTRY.findall(section)
        ]
        documents = [f"{title} <{place}>" for title, place in entries if not place.startswith("files/")]
        if documents:
            options = [f":caption: {caption}"] if caption else []
            lines = ("```{toctree}", *options, ":hidden:", ":maxdepth: 1", "", *documents, "```", "")
            trees.append("\n".join(lines))
    return "\n".join(trees)


def is_index(path: PurePosixPath) -> bool:
    """Whether a file of the repository is an index, whose tables are the navigation."""
    return path.name == "README.md" and path.is_relative_to(DOCS)


def file_page(path: PurePosixPath, files: Mapping[PurePosixPath, str]) -> str:
    """A page with the content of a file, or of all files of a folder.

    Args:
        path: of the file or the folder in the repository.
        files: the text of each file, by its path.
    """
    blocks = []
    for name, text in files.items():
        longest = max((len(fence) for fence in re.findall(r"`{3,}", text)), default=2)
        fence = "`" * (longest + 1)
        heading = "" if name == path else f"## `{name.relative_to(path)}`\n\n"
        blocks.append(f"{heading}{fence}{LANGUAGES.get(name.suffix, 'text')}\n{text.rstrip()}\n{fence}\n")
    return "\n".join(["---\norphan: true\n---\n", f"# `{path}`\n", *blocks])
