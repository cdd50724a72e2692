# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A process that Ansible forks for a task searches for garbage less often, and no other process does."""

from __future__ import annotations

import gc
import multiprocessing
from multiprocessing.connection import Connection
from types import SimpleNamespace

import pytest
from ansible_collections.kyma.lifecycle.plugins.action.run_info import ActionModule
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._carrier import carrier
from ansible_collections.kyma.lifecycle.plugins.plugin_utils.garbage import NEW_OBJECTS, search_less_often

Habits = tuple[int, int]


def habits() -> Habits:
    """After how many new objects this process searches, and how many it never looks at."""
    return gc.get_threshold()[0], gc.get_freeze_count()


def tell(there: Connection) -> None:
    search_less_often()
    there.send(habits())


def test_a_forked_process_searches_what_is_new_and_that_less_often() -> None:
    here, there = multiprocessing.Pipe()
    process = multiprocessing.get_context("fork").Process(target=tell, args=(there,))
    process.start()
    threshold, frozen = here.recv()
    process.join()
    assert threshold == NEW_OBJECTS
    assert frozen > 1000


def test_a_process_of_its_own_stays_as_it_is() -> None:
    before = habits()
    search_less_often()
    assert habits() == before


def test_every_task_begins_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    class Started(Exception):
        pass

    def begin() -> None:
        raise Started

    monkeypatch.setattr(carrier, "search_less_often", begin)
    monkeypatch.setattr(carrier.ActionBase, "run", lambda *_given: {})
    module = ActionModule.__new__(ActionModule)
    module._task = SimpleNamespace(args={}, action="kyma.lifecycle.run_info", async_val=0)
    with pytest.raises(Started):
        module.run(None, {})
