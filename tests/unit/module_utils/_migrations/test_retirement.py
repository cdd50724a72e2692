# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""When migrations have to go, by the release that a collection supports or that somebody deploys."""

from __future__ import annotations

from pathlib import Path

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._migrations.retirement import (
    overdue_error,
    overdue_migrations,
    overdue_warning,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.collection import (
    NoSupportedRelease,
    supported_release,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils.migration_testing import assert_none_overdue

from tests.support.migrations import migration


def test_none_of_the_collections_own_has_outlived_its_time() -> None:
    """Where this fails, a migration's time has come: delete it, its tests and its section for operators."""
    assert_none_overdue("kyma.lifecycle")


@pytest.mark.parametrize(
    ("remove_in", "release", "expected"),
    [
        ("2.12", "2.11", False),
        ("2.12", "2.11.9", False),
        ("2.12", "2.12", True),
        ("2.12", "2.12.0", True),
        ("2.12.0", "2.12", True),
        ("2.12", "2.12.1", True),
        ("2.12", "v2.12.0-rc1", True),
        ("2.12", "2.9", False),
        ("2.9", "2.12", True),
        ("3", "2.12", False),
        ("2.12", "3.0", True),
        ("2.12", "main", False),
        ("2.12", "", False),
    ],
)
def test_a_migration_is_overdue_from_the_release_that_it_names(
    remove_in: str, release: str, *, expected: bool
) -> None:
    assert bool(overdue_migrations([migration("old", remove_in=remove_in)], release)) is expected


def test_a_migration_that_may_stay_is_never_overdue() -> None:
    assert overdue_migrations([migration("old", remove_in="", keep="a reason")], "99") == []


def test_the_message_names_the_migration_and_both_releases() -> None:
    late = migration("old", remove_in="2.12")
    assert (
        overdue_error(late, "2.12") == "remove me: logging/old, remove_in 2.12, the collection supports 2.12"
    )
    message = overdue_warning(late, "2.13")
    assert "logging/old" in message
    assert "2.12" in message
    assert "2.13" in message


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (None, "there is no "),
        ("", "it needs a line such as"),
        ("- a\n", "it needs a line such as"),
        ("newest_supported_release: 2.12\n", "a version in quotes"),
        ("newest_supported_release: soon\n", "a version in quotes"),
        ("a: [\n", "can't be read"),
    ],
)
def test_a_collection_has_to_declare_what_it_supports(
    tmp_path: Path, content: str | None, problem: str
) -> None:
    if content is not None:
        (tmp_path / "meta").mkdir()
        (tmp_path / "meta" / "kyma.yml").write_text(content)
    with pytest.raises(NoSupportedRelease, match=problem) as caught:
        supported_release(tmp_path)
    assert str(tmp_path / "meta" / "kyma.yml") in str(caught.value)


def test_the_supported_release_is_read_as_a_version(tmp_path: Path) -> None:
    (tmp_path / "meta").mkdir()
    (tmp_path / "meta" / "kyma.yml").write_text("newest_supported_release: '2.12'\n")
    assert supported_release(tmp_path) == "2.12"
