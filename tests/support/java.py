# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The Java on this machine. ansible-rulebook runs its rules in one."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

OLDEST = 17
"""The oldest version that ansible-rulebook starts with."""
VERSION = re.compile(r'version "(\d+)')


def why_no_java(environment: Mapping[str, str] | None = None) -> str:
    """Return why ansible-rulebook can't run here without Java, or nothing if it can.

    Args:
        environment: the variables of the process, by default our own. ansible-rulebook takes `JAVA_HOME`
            before the `PATH`.
    """
    environment = os.environ if environment is None else environment
    home = environment.get("JAVA_HOME")
    program = str(Path(home) / "bin" / "java") if home else shutil.which("java", path=environment.get("PATH"))
    if program is None:
        return (
            f"ansible-rulebook needs Java {OLDEST} or newer, and there is no java on the PATH: "
            "install it, on Debian with `apt-get install default-jre-headless`"
        )
    try:
        done = subprocess.run(
            [program, "-version"], capture_output=True, text=True, errors="replace", check=False, timeout=30
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"ansible-rulebook needs Java {OLDEST} or newer, and {program} doesn't start: {error}"
    version = VERSION.search(done.stderr + done.stdout)
    if version is None:
        return f"ansible-rulebook needs Java {OLDEST} or newer, and {program} names no version"
    if int(version[1]) < OLDEST:
        return f"ansible-rulebook needs Java {OLDEST} or newer, and {program} is version {version[1]}"
    return ""
