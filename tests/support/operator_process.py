# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The operator of a real module as a separate process, which outlives any run that is killed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RUNNING = "running"


@contextmanager
def operator_process(kubeconfig: Path, service_account: str) -> Iterator[None]:
    """Run the operator whose pods have this ServiceAccount; the API server must have refused it nothing."""
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / '.build'}"}
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.support.operator_process", str(kubeconfig), service_account],
        cwd=ROOT,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline().strip() == RUNNING
    try:
        yield
    finally:
        printed, _errors = process.communicate("", timeout=60)
    assert process.returncode == 0
    assert json.loads(printed) == {"most_at_once": 1, "refusals": []}


def main() -> None:
    """Run the operator until the standard input ends; print what the API server refused it."""
    # Imported here, because the process that starts it needs none of them.
    from tests.support.module_operator import DOCKER_REGISTRY, TEMPLATE_OPERATOR, module_operator

    programs = {one.service_account: one for one in (TEMPLATE_OPERATOR, DOCKER_REGISTRY)}
    with module_operator(Path(sys.argv[1]), programs[sys.argv[2]]) as operator:
        print(RUNNING, flush=True)
        sys.stdin.read()
    print(json.dumps({"most_at_once": operator.most_at_once, "refusals": operator.refusals}))


if __name__ == "__main__":
    main()
