# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import threading

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.desired import head_start
from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.desired.head_start import HeadStart


def waits(start: HeadStart, name: str) -> threading.Thread:
    thread = threading.Thread(target=start.wait, args=(name,), daemon=True)
    thread.start()
    thread.join(0.05)
    return thread


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(head_start, "LONGEST", 60.0)


@pytest.mark.usefixtures("patient")
def test_others_wait_until_all_that_go_first_are_applied() -> None:
    start = HeadStart({"a", "b"})
    assert not waits(start, "a").is_alive()
    other = waits(start, "c")
    start.applied("a")
    start.applied("a")
    other.join(0.05)
    assert other.is_alive()
    start.applied("b")
    other.join(10)
    assert not other.is_alive()


@pytest.mark.usefixtures("patient")
def test_nobody_waits_for_nobody() -> None:
    assert not waits(HeadStart(()), "c").is_alive()


def test_nobody_waits_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(head_start, "LONGEST", 0.2)
    other = waits(HeadStart({"hanging"}), "c")
    assert other.is_alive()
    other.join(10)
    assert not other.is_alive()
