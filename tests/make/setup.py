# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Installs what the other steps need."""

from __future__ import annotations

from tests.cluster import packages
from tests.cluster.console import say
from tests.cluster.errors import ClusterError
from tests.support.browser import PROGRAMS
from tests.support.java import why_no_java

from . import content
from .environments import BARE, LINT, MAIN, RULEBOOK, core_of
from .outcome import Outcome, passed


def for_running() -> Outcome:
    """Provide the requirements for running the collection."""
    MAIN.provide("run.txt")
    content.provide()
    return passed(f"ansible-core {core_of(MAIN)} in .build/venv")


def for_tests() -> Outcome:
    """Provide the requirements for testing it."""
    outcome = for_running()
    MAIN.provide("test.txt")
    return outcome


def for_linters() -> None:
    """Provide the linters, which require other versions, and the copy that they check."""
    for_documentation()
    content.refresh_copy()


def for_documentation() -> None:
    """Provide what builds the documentation as a site."""
    for_running()
    LINT.provide("lint.txt")


def everything() -> Outcome:
    """Provide what tests and linters need, so that they work without the network later."""
    outcome = for_tests()
    for_documentation()
    return outcome


def for_rulebooks() -> None:
    """Provide ansible-rulebook, if there is a Java. Otherwise its tests skip, which CI does not allow."""
    if not why_no_java():
        RULEBOOK.provide("rulebook.txt")


def for_execution_environments() -> None:
    """Provide a Python with the requirements of an execution environment, and nothing else."""
    BARE.provide("ee.txt")


def for_browsers() -> None:
    """Provide a headless browser, if possible. Otherwise its tests skip, which CI does not allow."""
    try:
        packages.need(*PROGRAMS)
    except ClusterError as error:
        say(str(error))
