# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which release may follow which."""

from __future__ import annotations

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.desired.release_versions import (
    is_deployment_open,
    is_older,
    is_same_release,
    server_problem,
    upgrade_problem,
)


@pytest.mark.parametrize(
    ("version", "target", "desired"),
    [
        ("", "", "2.9"),
        ("2.9", "2.9", "2.9"),
        ("2.9", "2.9", "2.10"),
        ("2.9.1", "2.9.1", "2.9.4"),
        ("2.9", "2.10", "2.10"),
        ("2.9", "2.10", "2.10.0"),
        ("2.9", "2.9.0", "2.9.1"),
        ("2.10.0+b", "2.10.0+b", "2.10.0+a"),
    ],
)
def test_releases_that_may_follow(version: str, target: str, desired: str) -> None:
    assert upgrade_problem(version, target, desired) == ""


@pytest.mark.parametrize(
    ("version", "target", "desired", "expected"),
    [
        ("2.9", "2.9", "2.11", "deploy 2.10 first"),
        ("2.10", "2.10", "2.9", "downgrades"),
        ("2.10.2", "2.10.2", "2.10.1", "downgrades"),
        ("2.10.0", "2.10.0", "2.10.0-rc1", "downgrades"),
        ("2.10", "2.10", "3.0", "one minor version"),
        ("2.9", "2.10", "2.9", "deploy 2.10 again"),
        ("", "2.9", "2.10", "deploy 2.9 again"),
    ],
)
def test_releases_that_may_not_follow(version: str, target: str, desired: str, expected: str) -> None:
    assert expected in upgrade_problem(version, target, desired)


@pytest.mark.parametrize(
    ("desired", "migrated", "expected"),
    [
        ("2.10.1", [], "none of its migrations has begun to write, so you can give it up with abandon=true"),
        ("2.10.1", None, "deploy 2.10 again to complete it, or give it up with abandon=true"),
        ("2.10.1", ["a/b"], "deploy 2.10 again to complete it before 2.10.1, as migration a/b has begun"),
        # Without 2.10 it can't follow at all.
        ("2.11", [], "giving it up with abandon=true (kyma_abandon) is not enough, as 2.11 can't follow 2.9"),
    ],
)
def test_an_open_deployment_says_whether_giving_it_up_helps(
    desired: str, migrated: list[str] | None, expected: str
) -> None:
    problem = upgrade_problem("2.9", "2.10", desired, migrated=migrated)
    assert "the deployment of 2.10 has begun and has not ended" in problem
    assert expected in problem


def test_a_release_may_say_what_it_follows() -> None:
    assert upgrade_problem("2.9.3", "2.9.3", "2.11", ["2.9", "2.10"]) == ""
    assert "may follow 2.10" in upgrade_problem("2.9", "2.9", "2.11", ["2.10"])


@pytest.mark.parametrize(
    ("version", "desired"),
    [("2.10.0", "2.10.1"), ("2.10.0-rc1", "2.10.0"), ("2.10", "2.10.0"), ("2.10.0+b", "2.10.0+a")],
)
def test_versions_that_a_release_follows_do_not_restrict_its_own_minor(version: str, desired: str) -> None:
    assert upgrade_problem(version, version, desired, ["2.9"]) == ""


def test_a_release_may_say_what_it_follows_of_its_own_minor() -> None:
    assert upgrade_problem("2.10.2", "2.10.2", "2.10.4", ["2.9", "2.10.2"]) == ""
    assert "may follow 2.9 or 2.10.2" in upgrade_problem("2.10.1", "2.10.1", "2.10.4", ["2.9", "2.10.2"])
    assert upgrade_problem("2.9", "2.9", "2.10", ["2.9.0"]) == ""


def test_versions_are_the_same_however_they_are_written() -> None:
    assert is_same_release("2.9", "2.9.0")
    assert is_same_release("2.9.0+a", "2.9.0+b")
    assert not is_same_release("2.9.0-rc1", "2.9.0")
    assert not is_same_release("2.9", "")
    assert is_same_release("main", "main")
    assert not is_deployment_open("2.9", "2.9.0")
    assert is_deployment_open("", "2.9")
    assert not is_older("2.9.0+a", "2.9.0+b")


def test_a_release_may_say_which_servers_it_supports() -> None:
    assert server_problem("v1.36.3", "") == ""
    assert server_problem("v1.30.2-gke.1", ">=1.27,<1.31") == ""
    assert server_problem("unknown", ">=1.27") == ""
    assert (
        server_problem("v1.36.3", "<1.31")
        == "the release supports Kubernetes <1.31, and the cluster has v1.36.3"
    )
