# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The page for operators has a section for each migration, and says what the classes say."""

from __future__ import annotations

from tests.make.migrations_page import OF_PEOPLE, PAGE, brought_up_to_date, own, problems
from tests.support.migrations import migration

FRAME = "# Title\n\n<!-- generated: table -->\n<!-- end -->\n\nText.\n"


def written(page: str) -> str:
    return page.replace("TODO", "Words.")


def test_the_page_is_what_the_collections_own_say() -> None:
    """Where this fails: `make fix`, then write what it can't know."""
    assert problems(PAGE.read_text(), *own()) == []


def test_a_new_migration_gets_a_section_that_a_person_has_to_fill() -> None:
    late = migration("grow-it", irreversible="Volumes don't shrink.", on_failure="warn")
    page = brought_up_to_date(FRAME, [late], "2.11")
    assert "| [logging/grow-it](#logginggrow-it) | pre logging | 9.9 |  |" in page
    assert "The newest release that the collection supports is 2.11." in page
    section = page.partition("\n## logging/grow-it\n")[2]
    assert "Brings about grow-it." in section
    assert "- Runs before the component `logging`; removed in 9.9." in section
    assert "is only a warning" in section
    assert "Can't be undone: Volumes don't shrink." in section
    assert problems(page, [late], "2.11") == ["logging/grow-it has a part that nobody has written"]
    assert problems(written(page), [late], "2.11") == []
    assert brought_up_to_date(page, [late], "2.11") == page


def test_outdated_parts_of_the_page_are_reported() -> None:
    page = written(brought_up_to_date(FRAME, [migration("grow-it")], "2.11"))
    [stale] = problems(page, [migration("grow-it", remove_in="9.8")], "2.11")
    assert "make fix" in stale
    [_stale, gone] = problems(page, [], "2.11")
    assert gone == "logging/grow-it is gone: take its section away"
    missing = problems(page.replace(f"### {OF_PEOPLE[1]}\n", ""), [migration("grow-it")], "2.11")
    assert missing == ["logging/grow-it has no part 'By hand'"]


def test_text_written_by_people_stays() -> None:
    page = written(brought_up_to_date(FRAME, [migration("grow-it")], "2.11"))
    again = brought_up_to_date(page, [migration("grow-it", keep="for ever", remove_in="")], "2.12")
    assert "for ever" in again
    assert "; never removed." in again
    assert again.count("Words.") == 2
    assert "Text." in again
