# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A wrapper between dockerd and runc for machines that withhold CAP_SYS_RESOURCE.

Called as `limitedruntime.py <runc> <arguments of runc>`. A container that asks for that capability, or for
limits that only its owner may raise, would not start. The program removes both from the input of runc. It
imports nothing of this package.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

WITHHELD = "CAP_SYS_RESOURCE"


def main(runc: str, arguments: list[str]) -> None:
    """Relax the input of this call, and become runc."""
    if "create" in arguments or "run" in arguments:
        relax_file(Path(_value(arguments, "--bundle", "-b") or ".") / "config.json")
    elif "exec" in arguments:
        process = _value(arguments, "--process", "-p")
        if process:
            relax_file(Path(process))
    os.execv(runc, [runc, *arguments])


def relax_file(path: Path) -> None:
    """Relax a bundle's config.json, or the process file of an exec."""
    content = json.loads(path.read_text(encoding="utf-8"))
    relax(content.get("process", content))
    path.write_text(json.dumps(content), encoding="utf-8")


def relax(process: dict[str, Any]) -> None:
    """Remove the capability, the limits and the protection from the kernel's out-of-memory killer."""
    for names in process.get("capabilities", {}).values():
        if WITHHELD in names:
            names.remove(WITHHELD)
    process.pop("rlimits", None)
    process.pop("oomScoreAdj", None)


def _value(arguments: list[str], *options: str) -> str | None:
    for position, argument in enumerate(arguments):
        name, equals, value = argument.partition("=")
        if name in options:
            return value if equals else arguments[position + 1]
    return None


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
