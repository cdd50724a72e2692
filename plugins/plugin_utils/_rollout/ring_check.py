# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Asks the user's check whether a ring may start: an executable beside the playbook, or a URL.

Only variables of Ansible name it, never a release. It is also asked in check mode, so it must only read.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ...module_utils._errors import LifecycleError
from ...module_utils._redaction import without_login, without_logins_in, without_secrets
from ...module_utils._release.limits import Limits
from ...module_utils._result_codec import to_result
from ...module_utils._text import one_line
from .._release.programs import ProgramFailed, ProgramMissing, complete_program
from .model import FAILED_CHECK, GO, WAIT, CheckVerdict, Rollout

SECONDS = 60
"""The time of a check. After it, the check is killed with its children."""
LONGEST_LINE = 200
_LIMITS = Limits(rendered_mb=1, memory_mb=2048)
_VERDICTS: Mapping[int, str] = {0: GO, 1: WAIT}
"""The meaning of an exit status; each other one means failed."""
_WAIT_CODES = (425, 429, 503)
"""HTTP: too early, too many requests, unavailable. Each asks the client to come back later."""


def is_url(check: str) -> bool:
    """Whether a check is asked by HTTP."""
    return check.startswith(("http://", "https://"))


def find_check(check: str, folders: Sequence[Path]) -> str:
    """The check as it can be asked: a URL unchanged, or the absolute path of the executable.

    Args:
        check: as the user wrote it.
        folders: that a relative path may start from.

    Raises:
        LifecycleError: there is no such file, or it may not be executed.
    """
    if is_url(check):
        return check
    given = Path(check).expanduser()
    places = [given] if given.is_absolute() else [folder / given for folder in folders]
    file = next((place for place in places if place.is_file()), None)
    if not file:
        searched = ", ".join(map(str, places))
        raise LifecycleError(
            f"ring_check (kyma_ring_check): there is no {without_login(check)}; looked for {searched}"
        )
    if not os.access(file, os.X_OK):
        raise LifecycleError(
            f"ring_check (kyma_ring_check): {file} is not executable. Run:\n  chmod +x {file}"
        )
    return str(file)


def check_question(rollout: Rollout, ring: str) -> dict[str, Any]:
    """What a check gets as JSON: the ring that may start, and the clusters of it and of all rings before.

    Args:
        rollout: as decided without the check.
        ring: that waits for nothing else.
    """
    number = [one.name for one in rollout.rings].index(ring)
    return {
        "ring": ring,
        "release_digest": rollout.release_digest,
        "version": rollout.version,
        "clusters": [
            {"ring": one.name, **to_result(cluster)}
            for one in rollout.rings[: number + 1]
            for cluster in one.clusters
        ],
    }


def ask_check(check: str, question: Mapping[str, Any], seconds: int = SECONDS) -> CheckVerdict:
    """The answer of a check: go, wait or failed, with the first line that it wrote.

    Args:
        check: from :func:`find_check`.
        question: what it gets as JSON.
        seconds: after which it is killed.
    """
    ask = _ask_url if is_url(check) else _ask_program
    return ask(check, json.dumps(question), seconds)


def _ask_program(path: str, question: str, seconds: int) -> CheckVerdict:
    limits = replace(_LIMITS, rendering_seconds=seconds)
    try:
        ended = complete_program([path], os.environ, limits=limits, stdin=question + "\n")
    except ProgramMissing as error:
        return CheckVerdict(FAILED_CHECK, one_line(error))
    except ProgramFailed:
        used = f"{seconds} s, {limits.rendered_mb} MB of output or {limits.memory_mb} MB of memory"
        return CheckVerdict(FAILED_CHECK, f"it was killed, as it took more than {used}")
    line = _first_line(ended.output) or _first_line(ended.errors)
    state = _VERDICTS.get(ended.status, FAILED_CHECK)
    return CheckVerdict(state, line or f"it ended with status {ended.status} and wrote nothing")


def _ask_url(url: str, question: str, seconds: int) -> CheckVerdict:
    verdicts: list[CheckVerdict] = []
    # A server that sends a byte from time to time keeps a read waiting for ever.
    thread = threading.Thread(target=lambda: verdicts.append(_sent(url, question, seconds)), daemon=True)
    thread.start()
    thread.join(seconds)
    return verdicts[0] if verdicts else CheckVerdict(FAILED_CHECK, f"no answer within {seconds} s")


def _sent(url: str, question: str, seconds: int) -> CheckVerdict:
    from urllib.error import HTTPError
    from urllib.parse import urljoin

    from ansible.module_utils.urls import open_url

    headers = {"Content-Type": "application/json"}
    try:
        with open_url(
            url,
            data=question.encode(),
            headers=headers,
            method="POST",
            timeout=seconds,
            follow_redirects="none",
            force_basic_auth=True,
        ) as answer:
            return _verdict(answer.status, answer.read)
    except HTTPError as error:
        if 300 <= error.code < 400:
            place = without_login(urljoin(url, error.headers.get("Location") or ""))
            return CheckVerdict(
                FAILED_CHECK,
                f"it redirects to {place} (HTTP status {error.code}), which is not followed: set ring_check"
                " (kyma_ring_check) to the URL that answers",
            )
        return _verdict(error.code, error.read)
    except Exception as error:
        # open_url raises exceptions of urllib, http and ssl, and others.
        return CheckVerdict(FAILED_CHECK, one_line(without_logins_in(str(error)), LONGEST_LINE))


def _verdict(code: int, read: Callable[[int], bytes]) -> CheckVerdict:
    state = GO if 200 <= code < 300 else WAIT if code in _WAIT_CODES else FAILED_CHECK
    line = _first_line(read(LONGEST_LINE * 4).decode(errors="replace"))
    return CheckVerdict(state, line or f"HTTP status {code}")


def _first_line(text: str) -> str:
    """The first line with text, without control characters, logins of URLs and secrets of this process."""
    line = next((line for line in text.splitlines() if line.strip()), "")
    return one_line(without_secrets(without_logins_in(line)), LONGEST_LINE)
