# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The checks that only read files."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from tests.cluster import golang
from tests.cluster.paths import ROOT

from . import content, setup
from .command import read, run, shown
from .environments import LINT, MAIN
from .locks import current_lock_of
from .outcome import Outcome, failed, not_at_hand, passed, together

PACKAGES = ("module_utils", "plugin_utils", "modules", "action", "callback", "filter")
ACTIONLINT = ROOT / "tests" / "make" / "actionlint"
"""The Go module that pins actionlint."""
VULNERABLE = re.compile(r"^Found \d+ known vulnerabilit", re.MULTILINE)
UNKNOWN = "could not be audited"


def style() -> Outcome:
    """Let ruff check for mistakes and the format."""
    setup.for_tests()
    ruff = MAIN.bin / "ruff"
    return together(_check([ruff, *words]) for words in (["check"], ["format", "--check"]))


def fix() -> Outcome:
    """Let ruff fix what it can, and update the documentation that is made from the code."""
    setup.for_tests()
    ruff = MAIN.bin / "ruff"
    commands: tuple[Sequence[str | Path], ...] = (
        (ruff, "check", "--fix"),
        (ruff, "format"),
        (MAIN.python, "-m", "tests.make.migrations_page"),
        (MAIN.python, "-m", "tests.make.results"),
        (MAIN.python, "-m", "tests.make.role_variables"),
        (MAIN.python, "-m", "tests.make.shipped_definitions"),
        (MAIN.python, "-m", "tests.make.file_schemas"),
        (MAIN.python, "-m", "tests.pictures.rooms"),
        (MAIN.python, "-m", "tests.pictures.cast_svg"),
    )
    return together(_check(command) for command in commands)


def types() -> Outcome:
    """Check all code with mypy, strictly."""
    setup.for_tests()
    prefix = ".".join(("ansible_collections", *content.OURS, "plugins"))
    plugins = [name for name in PACKAGES if any((ROOT / "plugins" / name).rglob("*.py"))]
    words: list[str] = []
    for package in [
        *(f"{prefix}.{name}" for name in plugins),
        ".".join(("ansible_collections", *content.OURS, "extensions.eda.plugins.event_source")),
        "tests.benchmark",
        "tests.cluster",
        "tests.containers",
        "tests.faults",
        "tests.make",
        "tests.support",
    ]:
        words += ["-p", package]
    return _check([MAIN.bin / "mypy", *words])


def yaml() -> Outcome:
    """Check every YAML file of ours with yamllint."""
    setup.for_linters()
    return _check([LINT.bin / "yamllint", "--strict", "."], cwd=content.COPY)


def changelog() -> Outcome:
    """Check the fragments with antsibull-changelog."""
    setup.for_linters()
    return _check([LINT.bin / "antsibull-changelog", "lint"], cwd=content.COPY)


def docs() -> Outcome:
    """Check the documentation of all plugins and options, and its references, with antsibull-docs."""
    setup.for_linters()
    words = ("--plugin-docs", "--skip-rstcheck")
    references = ("--validate-collection-refs", "all")
    return _check(
        [LINT.bin / "antsibull-docs", "lint-collection-docs", *words, *references, "."], cwd=content.COPY
    )


def lint() -> Outcome:
    """Check playbooks, roles and metadata with ansible-lint's strictest profile."""
    setup.for_linters()
    words = ("--offline", "--strict", "--profile", "production")
    return _check([LINT.bin / "ansible-lint", *words], cwd=content.COPY)


def workflows() -> Outcome:
    """Check the workflows of GitHub with actionlint. They do not run here."""
    files = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
    return _check([golang.find(), "-C", ACTIONLINT, "tool", "actionlint", *files])


def audit() -> Outcome:
    """Ask PyPI's service for known vulnerabilities of what users and tests install, where it answers."""
    setup.for_linters()
    sources = [
        (ROOT / "meta" / "ee-requirements.txt",),
        *((current_lock_of(file), "--require-hashes", "--disable-pip") for file in ("test.txt", "lint.txt")),
    ]
    audit_file = (LINT.bin / "pip-audit", "--progress-spinner", "off", "--requirement")
    answers = [read([*audit_file, *source], env=LINT.variables) for source in sources]
    code = max(code for code, _printed in answers)
    printed = "".join(printed for _code, printed in answers)
    print(printed, flush=True)
    if VULNERABLE.search(printed):
        return failed("pip-audit has findings")
    return not_at_hand("pip-audit did not reach its service") if code or UNKNOWN in printed else passed()


def _check(command: Sequence[str | Path], cwd: Path = ROOT) -> Outcome:
    program = Path(command[0])
    environment = LINT if program.is_relative_to(LINT.folder) else MAIN
    code = run(command, env=environment.variables, cwd=cwd)
    return failed(f"{program.name} has findings: `{shown(command)}`") if code else passed()
