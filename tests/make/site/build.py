# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The step `site`: builds the site in `.build/site`, without the network, and checks its links."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.cluster.paths import BUILD, ROOT
from tests.make import content, setup
from tests.make.command import run
from tests.make.environments import LINT, MAIN
from tests.make.outcome import Outcome, failed, passed

from .links import link_problems
from .pages import PLUGINS

SITE = BUILD / "site"
HTML = "html"
"""The folder in a site's folder that browsers open."""
NAME = ".".join(content.OURS)


def site() -> Outcome:
    """Build the site, and check that each link leads somewhere."""
    setup.for_documentation()
    shutil.rmtree(SITE, ignore_errors=True)
    return build_site(SITE)


def build_site(folder: Path) -> Outcome:
    """Build the site in a folder that does not exist yet.

    Args:
        folder: gets the folders `source` and `html`.
    """
    source, html = folder / "source", folder / HTML
    plugins = source / PLUGINS
    plugins.mkdir(parents=True)
    shutil.copy(ROOT / "galaxy.yml", source)
    if run([MAIN.python, "-m", "tests.make.site.sources", source], env=MAIN.variables):
        return failed("the pages could not be collected")
    words = ("--use-current", "--squash-hierarchy", "--fail-on-error", "--dest-dir")
    if run([LINT.bin / "antsibull-docs", "collection", *words, plugins, NAME], env=LINT.variables):
        return failed("antsibull-docs could not write the pages of modules and roles")
    strict = ("-b", "html", "-W", "--keep-going", "-q", "-d", folder / "doctrees")
    if run([LINT.bin / "sphinx-build", *strict, source, html], env=LINT.variables):
        return failed("Sphinx has findings")
    problems = link_problems(html)
    if problems:
        return failed("\n".join((f"{len(problems)} links lead nowhere:", *problems)))
    return passed(f"The site is built: {html / 'index.html'}")
