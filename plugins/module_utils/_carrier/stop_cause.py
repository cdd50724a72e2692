# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Why this process is asked to stop: ansible-playbook received a signal, or has ended without one."""

from __future__ import annotations

SIGNAL = "a signal to ansible-playbook"
PLAYBOOK_END = "the end of ansible-playbook"
"""It was killed, or its terminal was closed."""

_causes: list[str] = []


def note_playbook_end() -> None:
    """Note that ansible-playbook has ended, before this process is asked to stop."""
    _causes.append(PLAYBOOK_END)


def stop_cause() -> str:
    """The cause, in the words of the records; a signal unless something else was noted."""
    return _causes[0] if _causes else SIGNAL
