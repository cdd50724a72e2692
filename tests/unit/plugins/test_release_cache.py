# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import threading
import time
from functools import partial
from pathlib import Path

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._errors import LifecycleError
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.model import Content, Release
from ansible_collections.kyma.lifecycle.plugins.module_utils._task.bundle_file import read_bundle_file
from ansible_collections.kyma.lifecycle.plugins.plugin_utils import release_cache
from ansible_collections.kyma.lifecycle.plugins.plugin_utils.release_cache import ReleaseCache

RELEASE = Release("2.9", "abc", "", "kyma-system", (), {}, Content(()))


def test_of_those_that_want_it_at_the_same_time_one_renders(tmp_path: Path) -> None:
    rendered: list[int] = []
    bundles: list[Path] = []

    def render() -> Release:
        rendered.append(1)
        time.sleep(0.2)
        return RELEASE

    threads = [
        threading.Thread(target=lambda: bundles.append(ReleaseCache(tmp_path, print).bundle("abc", render)))
        for _i in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(rendered) == 1
    assert len(set(bundles)) == 1
    assert read_bundle_file(bundles[0]) == RELEASE


def test_a_release_that_can_not_be_read_leaves_nothing(tmp_path: Path) -> None:
    def fail() -> Release:
        raise LifecycleError("a.yaml:3: broken")

    with pytest.raises(LifecycleError, match="broken"):
        ReleaseCache(tmp_path, print).bundle("abc", fail)
    assert read_bundle_file(ReleaseCache(tmp_path, print).bundle("abc", lambda: RELEASE)) == RELEASE


@pytest.mark.parametrize(("busy", "told"), [(0.05, 0), (1.0, 1)])
def test_a_long_wait_for_somebody_else_is_told_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, busy: float, told: int
) -> None:
    monkeypatch.setattr(release_cache, "SILENT_SECONDS", 0.4)
    begun = threading.Event()
    said: list[str] = []

    def render() -> Release:
        begun.set()
        time.sleep(busy)
        return RELEASE

    other = threading.Thread(target=partial(ReleaseCache(tmp_path, said.append).bundle, "abc", render))
    other.start()
    begun.wait(5)
    ReleaseCache(tmp_path, said.append).bundle("abc", lambda: pytest.fail("rendered twice"))
    other.join()
    waiting = f"waiting for another host's task, which renders the same release (it holds {tmp_path}/"
    assert [text.startswith(waiting) for text in said] == [True] * told
