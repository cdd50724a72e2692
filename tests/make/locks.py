# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The lock of each requirements file: all packages that are installed for it, with hashes of their wheels.

The first line of a lock has the hash of its requirements file, which shows whether it belongs to that file.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path

from tests.cluster.paths import ROOT

from .command import CommandError

REQUIREMENTS = ROOT / "tests" / "requirements"
ONLY_LOCKED = ("--require-hashes", "--only-binary", ":all:")
"""What pip gets with a lock: it then builds nothing, so that no other package can get in."""


def lock_of(file: str) -> Path:
    """Return the path of the lock of a requirements file, e.g. `run.txt`."""
    return REQUIREMENTS / "locked" / file


def current_lock_of(file: str) -> Path:
    """Return the path of the lock of a requirements file.

    Raises:
        CommandError: the requirements have changed since it was written.
    """
    lock = lock_of(file)
    if not lock.exists() or not lock.read_text(encoding="utf-8").startswith(header(file)):
        raise CommandError(
            f"tests/requirements/{file} or a file that it includes has changed since its lock was written."
            " Only locked packages are installed. Write the locks again:\n  make locks"
        )
    return lock


def header(file: str) -> str:
    """Return the first line of a lock that belongs to the requirements file."""
    digest = hashlib.sha256(_text(REQUIREMENTS / file).encode()).hexdigest()
    return f"# Written by `make locks` from {file}: sha256:{digest}\n"


def _text(file: Path) -> str:
    """Return the text of a requirements file and of those that it includes."""
    text = file.read_text(encoding="utf-8")
    included: Sequence[str] = re.findall(r"^-r (\S+)", text, re.MULTILINE)
    return text + "".join(_text(file.parent / name) for name in included)
