# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A release as a browser sees it once it is published: on Galaxy, on the site and in the repository.

Galaxy's pages have the content that its importer gives them. Their look is of no account.
"""

from __future__ import annotations

import mimetypes
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from tests.make.galaxy_pages import GITHUB, RAW
from tests.make.site.links import EXTERNAL, Page

GALAXY = "https://galaxy.ansible.com/ui/repo/published"
UNDOCUMENTED = "There is no documentation."
"""What a page of Galaxy says of a module or plugin without documentation."""
HTML, TEXT = "text/html; charset=utf-8", "text/plain; charset=utf-8"
_MARKUP = re.compile(r"\b(?:[A-Z]|RV|HORIZONTALLINE)\(((?:[^()]|\([^()]*\))*)\)")
_REFERENCE = re.compile(r"\b(?:M\(([\w.]+)\)|P\(([\w.]+)#(\w+)\))")


@dataclass(frozen=True)
class Answer:
    """What a server sends for an address.

    Attributes:
        kind: the media type.
        body: the content.
    """

    kind: str
    body: bytes


@dataclass(frozen=True)
class PublishedRelease:
    """A release that was published.

    Attributes:
        result: what Galaxy's importer made of its tarball.
        site: the folder with the HTML of the site.
        root: the folder of the repository at the tag.
        files: the paths of all files at the tag.
    """

    result: Mapping[str, Any]
    site: Path
    root: Path
    files: Collection[Path]

    @property
    def start(self) -> str:
        """The address of the README on Galaxy."""
        metadata = self.result["metadata"]
        return f"{GALAXY}/{metadata['namespace']}/{metadata['name']}/"

    @cached_property
    def pages(self) -> Mapping[str, str]:
        """The HTML of each page on Galaxy, by its address."""
        blob = self.result["docs_blob"]
        bodies = {self.start: blob["collection_readme"]["html"]}
        for page in blob["documentation_files"]:
            bodies[f"{self.start}docs/{page['name'].removesuffix('.md')}/"] = page["html"]
        for one in blob["contents"]:
            if one["readme_html"] or one["doc_strings"] or one["content_type"] == "module":
                address = self.content_address(one["content_type"], one["content_name"])
                bodies[address] = one["readme_html"] or self._documentation(one)
        links = "".join(f'<li><a href="{address}">{escape(address)}</a></li>' for address in bodies)
        return {
            address: f"<!doctype html><title>Galaxy</title><nav><ul>{links}</ul></nav><main>{body}</main>"
            for address, body in bodies.items()
        }

    def content_address(self, kind: str, name: str) -> str:
        """The address of the page of a module, plugin or role on Galaxy."""
        return f"{self.start}content/{kind}/{name}/"

    def answer(self, address: str) -> Answer | None:
        """What is at an address; None if nothing is there, or if it does not belong to the release."""
        address = unquote(urlsplit(address)._replace(query="", fragment="").geturl())
        if address in self.pages:
            return Answer(HTML, self.pages[address].encode())
        metadata = self.result["metadata"]
        site, repository, tag = metadata["documentation"], metadata["repository"], metadata["version"]
        if address.startswith(f"{site}/{tag}/"):
            return _file(self.site / address.removeprefix(f"{site}/{tag}/"))
        for prefix, is_shown in (
            (f"{repository.replace(GITHUB, RAW)}/{tag}/", False),
            (f"{repository}/blob/{tag}/", True),
        ):
            path = Path(address.removeprefix(prefix))
            if address.startswith(prefix) and path in self.files:
                file = _file(self.root / path)
                return Answer(TEXT, file.body) if file and is_shown else file
        folder = Path(address.removeprefix(f"{repository}/tree/{tag}/"))
        inside = sorted(str(path) for path in self.files if folder in path.parents)
        return Answer(TEXT, "\n".join(inside).encode()) if inside else None

    def link_problem(self, address: str) -> str:
        """What is wrong with a link to an absolute address; empty if nothing is.

        What does not belong to the release can't be asked for, so only the form of its address counts.
        """
        answer = self.answer(address)
        if answer is None:
            return "" if self._is_of_others(address) else f"{address} does not exist"
        anchor = unquote(urlsplit(address).fragment)
        if anchor and answer.kind == HTML and anchor not in Page(answer.body.decode()).anchors:
            return f"{address} has no such anchor"
        return ""

    def _is_of_others(self, address: str) -> bool:
        metadata = self.result["metadata"]
        repository = metadata["repository"]
        ours = (GALAXY, metadata["documentation"], repository, repository.replace(GITHUB, RAW))
        is_mail = urlsplit(address).scheme == "mailto"
        return not address.startswith(ours) and bool(is_mail or EXTERNAL.fullmatch(address))

    def _documentation(self, content: Mapping[str, Any]) -> str:
        """The HTML of the documentation of a module or plugin."""
        strings = content["doc_strings"]
        heading = f"<h1>{escape(content['content_name'])}</h1>"
        if not strings:
            return f"{heading}<p>{UNDOCUMENTED}</p>"
        doc = strings["doc"]
        return "".join(
            (
                heading,
                self._paragraphs([doc["short_description"]]),
                self._paragraphs(doc["description"]),
                "<h2>Options</h2>",
                self._table(doc.get("options") or (), "suboptions"),
                "<h2>Examples</h2>",
                f"<pre>{escape(strings['examples'] or '')}</pre>",
                "<h2>Results</h2>",
                self._table(strings["return"] or (), "contains"),
            )
        )

    def _table(self, rows: Iterable[Mapping[str, Any]], inside: str) -> str:
        """A list of options or results, with those inside of them."""
        items = (
            f"<dt>{escape(one['name'])}</dt>"
            f"<dd>{self._paragraphs(one['description'])}{self._table(one.get(inside) or (), inside)}</dd>"
            for one in rows
        )
        return f"<dl>{''.join(items)}</dl>"

    def _paragraphs(self, texts: str | Sequence[str]) -> str:
        """Paragraphs with Ansible's markup."""
        lines = [texts] if isinstance(texts, str) else texts
        return "".join(f"<p>{self._marked(escape(line, quote=False))}</p>" for line in lines)

    def _marked(self, text: str) -> str:
        """A text with links to the pages of modules and plugins of this collection."""
        prefix = "{namespace}.{name}.".format_map(self.result["metadata"])

        def reference(match: re.Match[str]) -> str:
            name, kind = match[1] or match[2], match[3] or "module"
            if not name.startswith(prefix):
                return f"<code>{name}</code>"
            return f'<a href="{self.content_address(kind, name.removeprefix(prefix))}">{name}</a>'

        return _MARKUP.sub(r"<code>\1</code>", _REFERENCE.sub(reference, text))


def _file(path: Path) -> Answer | None:
    """The content of a file, with the media type of its name."""
    if not path.is_file():
        return None
    kind = mimetypes.guess_type(path.name)[0] or TEXT
    return Answer(HTML if kind == "text/html" else kind, path.read_bytes())
