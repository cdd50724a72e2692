# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A folder that this process may not read, also if root runs the tests."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

OTHER_USER = 65534


@contextmanager
def closed_folder(parent: Path) -> Iterator[Path]:
    """A new folder with a file `config`; nothing in it can be read as long as this lasts."""
    folder = parent / "closed"
    folder.mkdir()
    (folder / "config").touch()
    folder.chmod(0)
    user = os.geteuid()
    if user == 0:
        os.setresuid(OTHER_USER, OTHER_USER, 0)
    try:
        yield folder
    finally:
        if user == 0:
            os.setresuid(0, 0, 0)
        folder.chmod(0o700)
