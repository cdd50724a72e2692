# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which tests of faults have passed with a seed, so that `make faults` continues after an interruption.

The record of a run is a file in `.build/faults`, named by the seed and by the code. Its lines are the tests
that have passed; tests/faults/conftest.py adds them. A run that succeeds removes its record.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.cluster.paths import BUILD, ROOT

from .content import tracked_files

FOLDER = BUILD / "faults"
VARIABLE = "KYMA_FAULTS_PASSED"
"""Names the record for tests/faults/conftest.py."""


@dataclass(frozen=True)
class FaultRecord:
    """The record of one run.

    Attributes:
        path: its file.
        seed: of the run.
    """

    path: Path
    seed: str

    @property
    def passed(self) -> Sequence[str]:
        """The tests that have passed."""
        return passed_tests(self.path)

    @property
    def summary(self) -> str:
        """One line on the skipped tests."""
        return (
            f"Going on: {len(self.passed)} tests have passed with this seed and code and are not run again."
        )

    def remove(self) -> None:
        """Remove the record, so that the next run with this seed runs every test."""
        self.path.unlink(missing_ok=True)


def open_record(seed: str, folder: Path = FOLDER, code: str = "") -> FaultRecord:
    """Return the record for a seed.

    Without a seed, it is the record of the last run that didn't succeed, else one with a new seed.

    Args:
        seed: of the command line; may be empty.
        folder: with the records.
        code: a digest of the tests and the collection; by default, of the work tree.
    """
    code = code or code_digest()
    folder.mkdir(parents=True, exist_ok=True)
    for stale in folder.glob("*.passed"):
        if not stale.name.endswith(f"-{code}.passed"):
            stale.unlink()
    if not seed:
        unfinished = max(folder.glob("*.passed"), key=lambda path: path.stat().st_mtime, default=None)
        seed = unfinished.name.partition("-")[0] if unfinished else str(secrets.randbelow(10**6))
    return FaultRecord(folder / f"{seed}-{code}.passed", seed)


def passed_tests(path: Path) -> Sequence[str]:
    """Return the tests that a record has."""
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else ()


def code_digest() -> str:
    """Return a digest that changes with every file that Git tracks, or would track."""
    whole = hashlib.sha256()
    for path in sorted(tracked_files()):
        if path.suffix != ".md":
            whole.update(bytes(path) + b"\0" + (ROOT / path).read_bytes() + b"\0")
    return whole.hexdigest()[:12]
