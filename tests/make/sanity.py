# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""`ansible-test sanity`, without an ignored finding, for each supported ansible-core."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.cluster.console import timed
from tests.cluster.paths import BUILD, ROOT

from . import content, cores, interpreters
from .command import CommandError, read
from .environments import MAIN, Environment, core_of, python_of
from .outcome import Outcome, failed, not_at_hand, passed, together

HOME = BUILD / "home"

# ansible-test wants to download a script that puts pip into its environments. Python has its own way.
BOOTSTRAP = "import ensurepip\n\nensurepip.bootstrap(default_pip=True)\n"
BOOTSTRAP_NAMES = ("get_pip_24_2.py", "get_pip_25_2.py")

# The output of pip during an installation, which is of no interest.
PIP = re.compile(r"\s*(Collecting|Downloading|Installing|Looking|Processing|Successfully|Using cached|━|$)")
SHIPPED = ("plugins/", "extensions/")
"""The folders with Python code that users get."""
NOTHING_SEEN = "All targets skipped"
NOT_INSTALLED = "Could not install packages"


def sanity() -> Outcome:
    """Run all of it on the newest ansible-core, and compile and import on the oldest, each with one Python.

    The other tests of an older ansible-core check the same as those of the newest. Compile and import don't:
    code that runs on the controller must suit the oldest Python, and only the oldest ansible-core runs on it.
    Our tests go without pylint, which takes longer for them than for what we ship.
    """
    _prepare()
    newest, python = cores.newest().version, ("--python", python_of(MAIN))
    outcome = together(
        (
            _with(MAIN, newest, ("--skip-test", "pylint", *python)),
            _with(MAIN, newest, ("--test", "pylint", *python, *SHIPPED)),
        )
    )
    environment = cores.oldest()
    if environment is None:
        return outcome
    options = ("--test", "compile", "--test", "import", "--python", python_of(environment))
    return together((outcome, _with(environment, cores.SUPPORTED[0].version, options)))


def sanity_everywhere() -> Outcome:
    """Run all of it for every version that this machine has a Python for, and for a release candidate.

    With CORE, for that version alone.
    """
    _prepare()
    outcomes = [_with(cores.environment(core), core.version) for core in cores.chosen()]
    if cores.chosen() != cores.SUPPORTED:
        return together(outcomes)
    candidate = cores.prerelease()
    if candidate is None:
        return together([*outcomes, not_at_hand("there is no release candidate of ansible-core")])
    return together([*outcomes, _on_unsupported(candidate)])


def sanity_in(environment: Environment, *, is_supported: bool) -> Outcome:
    """Run all of it in an environment.

    Args:
        environment: with an ansible-core.
        is_supported: whether the collection supports that ansible-core.
    """
    _prepare()
    return _with(environment, core_of(environment)) if is_supported else _on_unsupported(environment)


def _on_unsupported(environment: Environment) -> Outcome:
    """Run all of it, pylint alone: a release candidate may need a version of it that is not on PyPI."""
    parts = (("--skip-test", "pylint"), ("--test", "pylint"))
    return together(_with(environment, core_of(environment), options, may_lack=True) for options in parts)


def _prepare() -> None:
    ignored = sorted(path.name for path in (ROOT / "tests" / "sanity").glob("ignore*.txt"))
    if ignored:
        raise CommandError(
            f"tests/sanity has {', '.join(ignored)}: mend the findings instead of ignoring them"
        )
    content.refresh_copy()
    _prepare_home()


def _with(
    environment: Environment | None, core: str, options: Sequence[str] = (), *, may_lack: bool = False
) -> Outcome:
    """Run some of it on one ansible-core.

    Args:
        environment: of that ansible-core; None if no Python here runs it.
        core: its version.
        options: of ``ansible-test sanity``.
        may_lack: whether it is no failure that what it needs can't be installed.
    """
    if environment is None:
        return not_at_hand(f"no Python here runs ansible-core {core}")
    what = " ".join(("ansible-test sanity", *options))
    with timed(f"`{what}` in .build/{environment.name}"):
        command: Sequence[str | Path] = (
            environment.bin / "ansible-test",
            "sanity",
            "--color",
            "no",
            *options,
        )
        code, printed = read(command, env=_variables(environment), cwd=content.COPY, minutes=60)
    print(*(line for line in printed.splitlines() if not PIP.match(line)), sep="\n  ", flush=True)
    if code and may_lack and NOT_INSTALLED in printed:
        return not_at_hand(f"what `{what}` of ansible-core {core} needs can't be installed here")
    if code:
        return failed(f"ansible-test sanity in .build/{environment.name} has findings")
    if NOTHING_SEEN in printed:
        return failed(f"ansible-test sanity in .build/{environment.name} saw no file")
    return passed()


def _variables(environment: Environment) -> Mapping[str, str]:
    path = f"{environment.bin}:{interpreters.search_path()}"
    own = {"PATH": path, "HOME": str(HOME), "PYTHONPATH": "", "ANSIBLE_COLLECTIONS_PATH": ""}
    return {**environment.variables, **own}


def _prepare_home() -> None:
    """Give ansible-test its own home, with the user's settings for pip."""
    cache = HOME / ".ansible" / "test" / "cache"
    cache.mkdir(parents=True, exist_ok=True)
    for name in BOOTSTRAP_NAMES:
        (cache / name).write_text(BOOTSTRAP, encoding="utf-8")
    for name in (".config/pip", ".pip"):
        link, target = HOME / name, Path.home() / name
        if target.exists() and not link.exists():
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(target)
