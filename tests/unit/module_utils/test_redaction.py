# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Logins in URLs are not shown."""

from __future__ import annotations

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._redaction import (
    without_login,
    without_logins,
    without_logins_in,
    without_user,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.release_error import release_error


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://host/a", "https://host/a"),
        ("https://user:hunter2@host:1/a.tgz?token=hunter2#hunter2", "https://host:1/a.tgz"),
        ("https://hunter2@host/a", "https://host/a"),
        ("https://user:hunter2@[::1]:8/a", "https://[::1]:8/a"),
        ("https://user:hunter2%40@host/a?hunter2", "https://host/a"),
        ("https://user:hun@ter2@host/a", "https://host/a"),
        ("https://user:hunter2/x@host/a", "https://***"),
        ("https://user:hunter2?x@host/a", "https://***"),
        ("https://user:hunter2#x@host/a", "https://***"),
        ("https://user:hunter2@h\u2100st/a", "https://h\u2100st/a"),
        ("https://user:hunter2@[host/a", "https://***"),
        ("HTTPS://user:hunter2@host/a", "HTTPS://host/a"),
        ("  https://user:hunter2@host/a", "https://host/a"),
        ("https:/user:hunter2@host/a", "https:/host/a"),
        ("https:user:hunter2@host/a", "https:host/a"),
        ("https:///user:hunter2@host/a", "https:///host/a"),
        ("git::https://user:hunter2@host/a?hunter2", "git::https://host/a"),
        ("oci://user:hunter2@host/a", "oci://host/a"),
        ("https://host/@scope/pkg@1.0/a.yaml", "https://host/@scope/pkg@1.0/a.yaml"),
        ("file:///some/where@2x", "file:///some/where@2x"),
        ("/some/where@2x?y#z", "/some/where@2x?y#z"),
        ("C: a@b?c", "C: a@b?c"),
    ],
)
def test_a_url_is_shown_without_what_may_be_secret(url: str, shown: str) -> None:
    assert without_login(url) == shown
    assert "hunter2" not in shown
    assert without_logins([{"a": url, "b": 1}, None]) == [{"a": shown, "b": 1}, None]


def test_a_problem_of_a_release_shows_no_login() -> None:
    said = "files: 'a=https://user:hunter2@host/a?hunter2' and git::https://hunter2@host/b#hunter2 (x)"
    assert (
        str(release_error(said, "a.yaml")) == "a.yaml: files: 'a=https://host/a' and git::https://host/b (x)"
    )


@pytest.mark.parametrize("before", ["", "1", "x" * 100, "a.-" * 50, "a:" * 50, "https:" + ":" * 20])
def test_a_login_in_a_text_is_found_wherever_its_url_begins(before: str) -> None:
    assert "hunter2" not in without_logins_in(f"get {before}https://user:hunter2@host/a?hunter2: no")


@pytest.mark.parametrize("part", ["a", "a:", "a.-", "a:/", "https:"])
def test_a_long_text_without_a_url_takes_no_longer_than_it_is(part: str) -> None:
    """An author of a release may write it, and it would take an hour if each place were tried to the end."""
    text = part * 50_000
    assert without_logins_in(text)


def test_a_url_without_user_and_fragment_identifies_its_content() -> None:
    assert without_user("https://user:hunter2@host:1/a?b=c#d") == "https://host:1/a?b=c"
    assert without_user("/a@b?c") == "/a@b?c"
