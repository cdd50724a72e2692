# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The notes of the first release are a page about what it does, and nothing about what came before."""

from __future__ import annotations

import yaml

from tests.cluster.paths import ROOT

CHANGELOG = (ROOT / "CHANGELOG.rst").read_text(encoding="utf-8")
RELEASES = yaml.safe_load((ROOT / "changelogs" / "changelog.yaml").read_text(encoding="utf-8"))["releases"]
FIRST = max(
    (RELEASES[one] for one in RELEASES if one.startswith("1.0.0")), key=lambda one: len(one["changes"])
)
"""The page, which a candidate can have."""
SECTIONS = {"release_summary", "major_changes", "minor_changes", "known_issues"}
"""Those that a first release can have: no user has had what the others would change."""
MOST_WORDS = 900
"""Of a page, without the lists of modules and roles."""


def test_the_notes_of_the_first_release_are_a_page() -> None:
    changes = FIRST["changes"]
    assert changes.keys() == SECTIONS
    summary = changes["release_summary"]
    entries = [entry for section in SECTIONS - {"release_summary"} for entry in changes[section]]
    assert len(" ".join([summary, *entries]).split()) <= MOST_WORDS
    assert [entry for entry in entries if entry.startswith("Documentation")] == []


def test_the_changelog_shows_all_notes_of_the_first_release() -> None:
    shown = " ".join(CHANGELOG.split())
    changes = FIRST["changes"]
    notes = [changes["release_summary"], *changes["major_changes"], *changes["known_issues"]]
    assert [note for note in notes if note not in shown] == []
