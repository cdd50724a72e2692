# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Processes whose clock is wrong, like that of another machine."""

from __future__ import annotations

from pathlib import Path

_CLOCK = """
# Python imports this before all else.
import datetime
import time

OFF = {seconds}
real_datetime, real_time = datetime.datetime, time.time


class Instances(type):
    def __instancecheck__(cls, one):
        return isinstance(one, real_datetime)


class OffDatetime(real_datetime, metaclass=Instances):
    @classmethod
    def now(cls, tz=None):
        return real_datetime.now(tz) + datetime.timedelta(seconds=OFF)


datetime.datetime = OffDatetime
time.time = lambda: real_time() + OFF
"""


def wrong_clock(folder: Path, seconds: int) -> str:
    """The ``PYTHONPATH`` of processes by whose clock it is later by some seconds, or earlier.

    Args:
        folder: for a file that Python imports at its start.
        seconds: how much later.
    """
    (folder / "sitecustomize.py").write_text(_CLOCK.format(seconds=seconds))
    return str(folder)
