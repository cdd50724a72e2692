# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Parts of sentences that tell authors what is wrong."""

from __future__ import annotations

from collections.abc import Iterable

from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.attempt import Attempt


def listed(problems: Iterable[str]) -> str:
    """Problems as a list of their own below a sentence."""
    return "".join(f"\n    - {problem}" for problem in problems)


def last_call(attempt: Attempt) -> str:
    """How far an attempt has come."""
    calls = attempt.recording.calls
    return f"its last request was {attempt.recording.told(len(calls))}" if calls else "it made no request"
