# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What has passed in a long run, so that `make faults` and `make test-all` continue after an interruption.

The record of a run is a file, named by the seed and by the code. Each line stands for a test or a step that
has passed. The run that succeeds removes its record.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.cluster.paths import BUILD, ROOT

from .content import tracked_files

OF_FAULTS = BUILD / "faults"
OF_NIGHTS = BUILD / "test-all"
VARIABLE = "KYMA_FAULTS_PASSED"
"""Names the record for tests/faults/conftest.py."""


@dataclass(frozen=True)
class RunRecord:
    """The record of one run.

    Attributes:
        path: its file.
        seed: of the run.
        code: a digest of the code that the run tests.
    """

    path: Path
    seed: str
    code: str

    @property
    def lines(self) -> Sequence[str]:
        """What has passed."""
        return self.path.read_text(encoding="utf-8").splitlines() if self.path.exists() else ()

    def add(self, line: str) -> None:
        """Add something that has passed, at once: the run may be cut off at any time."""
        with self.path.open("a", encoding="utf-8") as file:
            file.write(f"{line}\n")

    def remove(self) -> None:
        """Remove the record, so that the next run with this seed runs everything."""
        self.path.unlink(missing_ok=True)


def open_record(seed: str, folder: Path, code: str, new_seed: str = "") -> RunRecord:
    """Return the record for a seed.

    Without a seed, it is the record of the last run that didn't succeed, else one with a new seed.

    Args:
        seed: of the command line; may be empty.
        folder: with the records.
        code: a digest of the code.
        new_seed: for a run that continues no other; by default, chance chooses it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for stale in folder.glob("*.passed"):
        if not stale.name.endswith(f"-{code}.passed"):
            stale.unlink()
    if not seed:
        unfinished = max(folder.glob("*.passed"), key=lambda path: path.stat().st_mtime, default=None)
        seed = unfinished.name.partition("-")[0] if unfinished else new_seed or random_seed()
    return RunRecord(folder / f"{seed}-{code}.passed", seed, code)


def random_seed() -> str:
    """Return a seed that no run has chosen."""
    return str(secrets.randbelow(10**6))


def code_digest(besides: str) -> str:
    """Return a digest that changes with every file that Git tracks, or would track.

    Args:
        besides: a pattern of paths that don't change it.
    """
    whole = hashlib.sha256()
    for path in sorted(tracked_files()):
        if not path.match(besides):
            whole.update(bytes(path) + b"\0" + (ROOT / path).read_bytes() + b"\0")
    return whole.hexdigest()[:12]
