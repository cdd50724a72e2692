# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The table of the steps of `make test` in tests/README.md, from what the last `make test` has measured."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from tests.cluster.paths import BUILD, ROOT

from .command import CommandError
from .generated_blocks import replace_blocks
from .outcome import Outcome, passed

PAGE = ROOT / "tests" / "README.md"
FILE = BUILD / "reports" / "make-test.json"
BLOCK = "steps"
PROOFS: Mapping[str, str] = {
    "setup": "The locked requirements can be installed together, and their files have the locked hashes.",
    "build": "The programs of a cluster can be built from their pinned sources.",
    "unit": "Decisions on plain values, runs on a cluster in memory, answers of a scripted server, and how"
    " tasks run in Ansible's process.",
    "sanity": "Modules import without their libraries, their documentation has their options, and all code"
    " compiles on the oldest Python.",
    "kind": "Errands, probes and jobs work with real processes, volumes and `exec`. Roles and playbooks work"
    " beside other modules.",
    "unit-oldest": "The same on the oldest Python, ansible-core and libraries, for what imports one of them.",
    "integration": "A real API server does what the cluster in memory does, and whole playbooks do what they"
    " promise, with these requests only. Also rulebooks, the HTML report and the execution environment.",
    "types": "Types agree, also in branches that no test runs.",
    "lint": "Roles, playbooks and examples follow the production profile.",
    "galaxy": "Galaxy accepts the tarball of a release, and shows the documentation of all of its modules,"
    " plugins and roles.",
    "docs": "Links and markup in the documentation of options are valid.",
    "suites": "Each test runs, and in one suite.",
    "style": "The format of the code, and that it has none of the mistakes that ruff knows.",
    "yaml": "The format of playbooks and metadata.",
    "changelog": "The fragments make a changelog.",
    "some-faults": "A run survives each of the 16 faults.",
}
"""What no other step of `make test` proves, by the name of the step."""


@dataclass(frozen=True)
class StepCost:
    """What a step of `make test` has cost.

    Attributes:
        name: of the step.
        seconds: that it ran.
        cpu_seconds: that it and its programs computed.
        tests: how many tests or checks it has run.
    """

    name: str
    seconds: float
    cpu_seconds: float
    tests: int


def cost_of(name: str, outcome: Outcome, seconds: float) -> StepCost:
    """Return what a step has cost that has ended."""
    tests = outcome.passed + outcome.failed + outcome.skipped
    return StepCost(name, round(seconds, 1), round(outcome.cpu_seconds, 1), tests)


def write_costs(costs: Sequence[StepCost], seconds: float, lanes: int, path: Path = FILE) -> None:
    """Write what the steps of a whole `make test` have cost, for the table.

    Args:
        costs: of the steps.
        seconds: of all of it.
        lanes: that it had; with one lane, each step ran alone.
        path: of the file.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    measured = {"steps": [asdict(cost) for cost in costs], "seconds": round(seconds, 1), "lanes": lanes}
    path.write_text(json.dumps(measured, indent=1), encoding="utf-8")


def table(costs: Sequence[StepCost], seconds: float, lanes: int, proofs: Mapping[str, str]) -> str:
    """Return the table as Markdown.

    Args:
        costs: of the steps.
        seconds: of all of it.
        lanes: that it had.
        proofs: what only a step proves, by the names of steps.
    """
    how = "one after the other, each alone" if lanes == 1 else f"side by side in {lanes} lanes"
    lines = [
        f"Measured {how}: {seconds:.0f} s in all.",
        "",
        "| step | seconds | CPU seconds | tests or checks | what only this step proves |",
        "|---|---:|---:|---:|---|",
    ]
    for cost in costs:
        numbers = f"{cost.seconds:.0f} | {cost.cpu_seconds:.0f} | {cost.tests}"
        lines.append(f"| `{cost.name}` | {numbers} | {proofs[cost.name]} |")
    sums = (sum(cost.seconds for cost in costs), sum(cost.cpu_seconds for cost in costs))
    lines.append(f"| all | {sums[0]:.0f} | {sums[1]:.0f} | {sum(cost.tests for cost in costs)} | |")
    return "\n".join(lines)


def write_table(proofs: Mapping[str, str], page: Path = PAGE, file: Path = FILE) -> Outcome:
    """Write the table into the page."""
    if not file.exists():
        raise CommandError(
            f"There is no {file}, so nothing is known of the steps. To measure them:\n  make test LANES=1"
        )
    measured = json.loads(file.read_text(encoding="utf-8"))
    costs = [StepCost(**cost) for cost in measured["steps"]]
    text = table(costs, measured["seconds"], measured["lanes"], proofs)
    page.write_text(replace_blocks(page.read_text(encoding="utf-8"), {BLOCK: text}), encoding="utf-8")
    return passed(f"{page} has the new table")
