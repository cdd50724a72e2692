# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Python imports this at its start, if this folder is in ``PYTHONPATH``: it records which files are run.

``PYTHONPROFILEIMPORTTIME`` would not do: Ansible's workers have no standard error.
"""

from __future__ import annotations

import os
import sys
from types import CodeType
from typing import Any

FILE = os.open(os.environ["KYMA_TEST_LOADED_FILES"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)


def record_code(event: str, arguments: tuple[Any, ...]) -> None:
    """Add the file of a module that is being imported. Forked processes do it, too."""
    if event == "exec" and isinstance(arguments[0], CodeType):
        os.write(FILE, f"{arguments[0].co_filename}\n".encode())


sys.addaudithook(record_code)
