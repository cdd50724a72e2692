# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A stranger who finds the collection on Galaxy reads on from there: no link, picture or page is dead.

The tarball of a release is imported as Galaxy does. The browser sees Galaxy's pages, the site and the
repository at the addresses that the tarball names, and nothing else of the web.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.cluster.paths import ROOT
from tests.make import setup, tarball
from tests.make.content import tracked_files
from tests.make.galaxy import contents_of, documented, import_tarball
from tests.support.extent import IS_FULL
from tests.support.published_release import GALAXY, UNDOCUMENTED, PublishedRelease

pytestmark = pytest.mark.browser

SEEN = """async () => {
  await Promise.all([...document.images].map((one) => one.decode().catch(() => null)));
  return {
    links: [...document.querySelectorAll("a[href]")].map((one) => one.href),
    deadPictures: [...document.images].filter((one) => !one.naturalWidth).map((one) => one.src),
    text: document.querySelector("main").innerText,
  };
}"""
"""The addresses as the browser resolves them, and the pictures that it could not draw."""


def opened(browser: Any, release: PublishedRelease, missing: list[str]) -> Any:
    """A new page of the browser for which the release is the whole web.

    Args:
        browser: the browser.
        release: the release.
        missing: gets each address that the browser asks for and that is not there.
    """

    def respond(route: Any) -> None:
        answer = release.answer(route.request.url)
        if answer is None:
            missing.append(route.request.url)
            route.fulfill(status=404, body="")
        else:
            route.fulfill(status=200, content_type=answer.kind, body=answer.body)

    page = browser.new_page(viewport={"width": 1400, "height": 900})
    page.route("**/*", respond)
    return page


def problems_on_galaxy(browser: Any, release: PublishedRelease) -> list[str]:
    """What is wrong with the pages of a release on Galaxy, each in a sentence."""
    problems: list[str] = []
    checked: dict[str, str] = {}
    missing: list[str] = []
    page = opened(browser, release, missing)
    for address in release.pages:
        place = address.removeprefix(f"{GALAXY}/")
        page.goto(address)
        seen = page.evaluate(SEEN)
        for link in dict.fromkeys(seen["links"]):
            if link not in checked:
                checked[link] = release.link_problem(link)
            if checked[link]:
                problems.append(f"{place}: {checked[link]}")
        problems += [f"{place}: the picture {picture} is dead" for picture in seen["deadPictures"]]
        if UNDOCUMENTED in seen["text"]:
            problems.append(f"{place}: {UNDOCUMENTED}")
    page.close()
    return problems


if IS_FULL:  # It takes two minutes.

    @pytest.fixture(scope="module")
    def release(site: Path, tmp_path_factory: pytest.TempPathFactory) -> PublishedRelease:
        """The release that would be published of the work tree."""
        setup.for_linters()
        folder = tmp_path_factory.mktemp("galaxy")
        result = import_tarball(tarball.build_release(folder / "tarball"), folder)
        assert contents_of(ROOT) - documented(result) == set()
        return PublishedRelease(result, site, ROOT, tracked_files())

    def test_no_link_no_picture_and_no_page_on_galaxy_is_dead(
        release: PublishedRelease, browser: Any
    ) -> None:
        assert problems_on_galaxy(browser, release) == []
        modules = {name for kind, name in contents_of(ROOT) if kind == "module"}
        assert {release.content_address("module", name) for name in modules} <= set(release.pages)

    def test_a_stranger_gets_from_the_readme_to_the_installation_and_the_tutorial(
        release: PublishedRelease, browser: Any
    ) -> None:
        missing: list[str] = []
        page = opened(browser, release, missing)
        page.goto(release.start)
        assert page.locator("main img").count() > 0
        page.locator("main").get_by_role("link", name="Install", exact=True).click()
        page.wait_for_url("**/install.html")
        assert "ansible-galaxy collection install kyma-lifecycle-" in page.locator("article").inner_text()
        page.locator("a[href='tutorial.html']").first.click()
        page.wait_for_url("**/tutorial.html")
        assert page.locator("article h1").inner_text().startswith("Tutorial")
        assert page.evaluate(SEEN.replace('"main"', '"article"'))["deadPictures"] == []
        page.close()
        assert missing == []


PICTURE = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><rect width="9" height="9"/></svg>'
TAG = "https://github.com/acme/sample"
RAW_FILES = "https://raw.githubusercontent.com/acme/sample/1.0.0"
SITE = "https://acme.example/sample"
DOC = {
    "short_description": "It deploys.",
    "description": "See M(acme.sample.plan) and P(acme.sample.plan#module).",
}
PLAN = {
    "content_type": "module",
    "content_name": "plan",
    "doc_strings": {"doc": DOC, "examples": "- a:", "return": [{"name": "changed", "description": ["x"]}]},
    "readme_html": None,
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a site of one page and a repository of one picture."""
    for name, text in (("site/install.html", '<h1 id="install">Install</h1>'), ("root/docs/a.svg", PICTURE)):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def small_release(folder: Path, readme: str, *contents: dict[str, Any]) -> PublishedRelease:
    """A release of another collection, with a README in HTML."""
    metadata = {
        "namespace": "acme",
        "name": "sample",
        "version": "1.0.0",
        "repository": TAG,
        "documentation": SITE,
    }
    blob = {"collection_readme": {"html": readme}, "documentation_files": [], "contents": contents}
    result = {"metadata": metadata, "docs_blob": blob}
    return PublishedRelease(result, folder / "site", folder / "root", [Path("docs/a.svg")])


def test_pages_on_galaxy_with_good_links_and_pictures_have_no_problem(folder: Path, browser: Any) -> None:
    readme = (
        f'<a href="{SITE}/1.0.0/install.html#install">a</a><img src="{RAW_FILES}/docs/a.svg">'
        f'<a href="{TAG}/blob/1.0.0/docs/a.svg">b</a><a href="{TAG}/tree/1.0.0/docs">c</a>'
        '<a href="https://example.org/x">d</a>'
    )
    assert problems_on_galaxy(browser, small_release(folder, readme, PLAN)) == []


@pytest.mark.parametrize(
    ("readme", "problem"),
    [
        ('<a href="docs/install.md">x</a>', f"{GALAXY}/acme/sample/docs/install.md does not exist"),
        ('<a href="#install">x</a>', f"{GALAXY}/acme/sample/#install has no such anchor"),
        (f'<a href="{SITE}/1.0.0/no.html">x</a>', f"{SITE}/1.0.0/no.html does not exist"),
        (f'<a href="{SITE}/1.0.0/install.html#no">x</a>', f"{SITE}/1.0.0/install.html#no has no such anchor"),
        (f'<a href="{TAG}/blob/1.0.0/no">x</a>', f"{TAG}/blob/1.0.0/no does not exist"),
        (f'<a href="{TAG}/tree/1.0.0/no">x</a>', f"{TAG}/tree/1.0.0/no does not exist"),
        (f'<a href="{TAG}/blob/2.0.0/docs/a.svg">x</a>', f"{TAG}/blob/2.0.0/docs/a.svg does not exist"),
        ('<a href="https://example">x</a>', "https://example/ does not exist"),
        (f'<img src="{RAW_FILES}/no.svg">', f"the picture {RAW_FILES}/no.svg is dead"),
        ('<img src="docs/a.svg">', f"the picture {GALAXY}/acme/sample/docs/a.svg is dead"),
        (f'<img src="{TAG}/blob/1.0.0/docs/a.svg">', f"the picture {TAG}/blob/1.0.0/docs/a.svg is dead"),
    ],
    ids=(
        "a path",
        "an anchor",
        "a page",
        "an anchor of a page",
        "a file",
        "a folder",
        "a file of another tag",
        "an address without a domain",
        "a picture",
        "the path of a picture",
        "the page of a picture",
    ),
)
def test_a_dead_link_or_picture_of_the_readme_is_reported(
    folder: Path, browser: Any, readme: str, problem: str
) -> None:
    assert problems_on_galaxy(browser, small_release(folder, readme)) == [f"acme/sample/: {problem}"]


def test_a_module_without_documentation_is_reported(folder: Path, browser: Any) -> None:
    release = small_release(folder, "", {**PLAN, "doc_strings": None})
    assert problems_on_galaxy(browser, release) == [f"acme/sample/content/module/plan/: {UNDOCUMENTED}"]
