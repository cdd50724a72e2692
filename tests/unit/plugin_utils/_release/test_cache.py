# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import stat
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._errors import LifecycleError
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.bundle import read_bundle_file
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.model import Content, Release
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._release import cache as release_cache
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._release.cache import ReleaseCache

from tests.support.eventually import eventually

RELEASE = Release("2.9", "abc", "", "kyma-system", (), {}, Content(()))


def whole(release: Release) -> bool:
    return all(content.is_read for content in release.content.values())


def test_one_of_several_simultaneous_readers_reads_the_release(tmp_path: Path) -> None:
    read: list[int] = []
    got: list[Release] = []

    def render(_there: Release | None) -> Release:
        read.append(1)
        time.sleep(0.2)
        return RELEASE

    def work() -> None:
        got.append(ReleaseCache(tmp_path, print).release("abc", whole, render))

    threads = [threading.Thread(target=work) for _i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(read) == 1
    assert got == [RELEASE] * 4
    assert read_bundle_file(ReleaseCache(tmp_path, print).path("abc")) == RELEASE


def test_more_of_it_is_read_where_that_is_wanted_and_not_again(tmp_path: Path) -> None:
    cache = ReleaseCache(tmp_path, print)
    part = replace(RELEASE, content={"a": Content((), source_hash="s", is_read=False)})
    more = replace(RELEASE, content={"a": Content((), source_hash="s")})
    partial_reads: list[Release | None] = []

    def read(result: Release) -> Callable[[Release | None], Release]:
        def reading(there: Release | None) -> Release:
            partial_reads.append(there)
            return result

        return reading

    assert cache.release("abc", lambda _release: True, read(part)) == part
    assert cache.release("abc", lambda _release: True, read(more)) == part
    assert cache.release("abc", whole, read(more)) == more
    assert cache.release("abc", whole, read(part)) == more
    assert partial_reads == [None, part]


def test_a_release_that_can_not_be_read_leaves_nothing(tmp_path: Path) -> None:
    def fail(_there: Release | None) -> Release:
        raise LifecycleError("a.yaml:3: broken")

    with pytest.raises(LifecycleError, match="broken"):
        ReleaseCache(tmp_path, print).release("abc", whole, fail)
    assert ReleaseCache(tmp_path, print).release("abc", whole, lambda _there: RELEASE) == RELEASE


@pytest.mark.parametrize(("silent", "reports"), [(60.0, 0), (0.05, 1)])
def test_a_long_wait_for_another_task_is_reported_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, silent: float, reports: int
) -> None:
    monkeypatch.setattr(release_cache, "SILENT_SECONDS", silent)
    begun = threading.Event()
    said: list[str] = []

    def render(_there: Release | None) -> Release:
        begun.set()
        # Until the wait is reported, or long enough for the other task to begin to wait.
        if reports:
            eventually(lambda: said)
        else:
            time.sleep(0.1)
        return RELEASE

    cache = ReleaseCache(tmp_path, said.append)
    other = threading.Thread(target=partial(cache.release, "abc", whole, render))
    other.start()
    begun.wait(60)
    cache.release("abc", whole, lambda _there: pytest.fail("read twice"))
    other.join()
    waiting = f"waiting for another host's task, which renders the same release (it holds {tmp_path}/"
    assert [text.startswith(waiting) for text in said] == [True] * reports


def test_the_output_of_a_program_is_kept_for_its_owner_alone(tmp_path: Path) -> None:
    runs: list[str] = []

    def run() -> str:
        runs.append("run")
        return "a: ü\r\n"

    for _time in range(2):
        assert ReleaseCache(tmp_path, print).output("key", run) == "a: ü\r\n"
    assert ReleaseCache(tmp_path, print).output("another key", lambda: "other") == "other"
    assert runs == ["run"]
    (first, *_others) = tmp_path.glob("kyma-output-*.txt")
    assert stat.S_IMODE(first.stat().st_mode) == 0o600


def test_a_failing_program_leaves_no_output(tmp_path: Path) -> None:
    def fail() -> str:
        raise LifecycleError("a.yaml:3: broken")

    with pytest.raises(LifecycleError, match="broken"):
        ReleaseCache(tmp_path, print).output("key", fail)
    assert ReleaseCache(tmp_path, print).output("key", lambda: "whole") == "whole"
