# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The recording of an upgrade that fails and is mended: a shell in a pseudo-terminal, and a person who types.

What the terminal shows is recorded unchanged, from the first plan on. The person types at a fixed rhythm and
reads for a fixed time. Pauses while a command works are shortened, such as that of a component which does not
become healthy. Ansible fills its headings with stars for a terminal of 80 columns at least: those beyond ours
are cut.
"""

from __future__ import annotations

import codecs
import fcntl
import os
import pty
import re
import select
import shutil
import struct
import subprocess
import termios
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.cluster.lock import turn
from tests.cluster.paths import BIN, BUILD, ROOT
from tests.make.content import COLLECTIONS
from tests.make.environments import MAIN

from .cast import Cast

TITLE = "An upgrade that fails and is mended, with kyma.lifecycle"
COLUMNS, ROWS = 70, 30
TYPING = 0.01
"""Seconds for each character."""
READING = 6.0
"""Seconds between the end of a command and the next one."""
WORKING = 0.5
"""Seconds that remain of a pause of a command at work."""
LONGEST = 240.0
"""Seconds that a command may take."""
HOME = Path("/tmp/kyma-shop")
"""The home of the person. Its path is in the recording, so it is the same on each machine."""
CLUSTER = "live-eu"
MANIFEST = "releases/1.1/checkout/deployment.yaml"
DEPLOY = "ansible-playbook deploy_kyma.yml -e version="
SETTINGS = "[defaults]\ninventory = inventory.yml\ndisplay_skipped_hosts = false\n"
PLAYBOOK = """
- import_playbook: kyma.lifecycle.deploy_kyma
  vars: {kyma_release: 'releases/{{ version }}'}
"""


@dataclass(frozen=True)
class Step:
    """What the person does.

    Attributes:
        comment: typed before the command.
        command: typed next.
        code: the expected exit code.
    """

    comment: str
    command: str
    code: int = 0


STORY = (
    Step("What would release 1.1 change?", f"{DEPLOY}1.1 --check --diff"),
    Step("That is what was meant. Upgrade.", f"{DEPLOY}1.1", code=2),
    Step("The pool is called shop, not shoop.", f"sed -i s/shoop/shop/ {MANIFEST}"),
    Step("The same command continues.", f"{DEPLOY}1.1"),
)


def record(kubeconfig: Path) -> Cast:
    """The recording of the story on an empty cluster, which first gets release 1.0, and its nodes a label.

    Args:
        kubeconfig: of its administrator.

    Raises:
        AssertionError: a command has ended with another exit code than expected.
    """
    with _home(kubeconfig) as environment, _shell(environment) as person:
        person.type(f"{DEPLOY}1.0 && clear")
        for step in STORY:
            person.type(f"# {step.comment}")
            person.type(step.command)
            assert person.code == step.code, f"{step.command} ended with {person.code}:\n{person.shown}"
            if step is STORY[0]:
                person.show_all_at_once()
            person.read()
        return Cast(TITLE, COLUMNS, ROWS, READING, person.events)


@contextmanager
def _home(kubeconfig: Path) -> Iterator[Mapping[str, str]]:
    """The home of the person with releases, inventory and collections; yields the environment."""
    with turn(HOME.with_suffix(".lock")):
        shutil.rmtree(HOME, ignore_errors=True)
        HOME.mkdir()
        for version in ("1.0", "1.1"):
            release = HOME / "releases" / version
            shutil.copytree(ROOT / "examples" / "release", release)
            (release / "release.yaml").write_text(f'version: "{version}"\n')
            _replace(release / "components.yaml", "timeout: 2m", "timeout: 30s")
        pod = "    spec:\n      containers:"
        _replace(HOME / MANIFEST, pod, pod.replace("\n", "\n      nodeSelector: {pool: shoop}\n"))
        shutil.copytree(ROOT / "examples" / "kyma_migrations", HOME / "kyma_migrations")
        (HOME / "ansible.cfg").write_text(SETTINGS)
        (HOME / "deploy_kyma.yml").write_text(PLAYBOOK)
        (HOME / "inventory.yml").write_text(f"all: {{hosts: {{{CLUSTER}: {{kyma_context: {CLUSTER}}}}}}}\n")
        collections = HOME / ".ansible" / "collections"
        collections.mkdir(parents=True)
        (collections / COLLECTIONS).symlink_to(BUILD / COLLECTIONS)
        config = HOME / ".kube" / "config"
        config.parent.mkdir()
        shutil.copy(kubeconfig, config)
        kubectl: list[str | Path] = [BIN / "kubectl", "--kubeconfig", config]
        context = subprocess.check_output([*kubectl, "config", "current-context"], text=True).strip()
        for words in (
            ["config", "rename-context", context, CLUSTER],
            ["label", "nodes", "--all", "pool=shop"],
        ):
            subprocess.run([*kubectl, *words], check=True, stdout=subprocess.DEVNULL)
        yield {
            "HOME": str(HOME),
            "USER": "alice",
            "PATH": f"{MAIN.bin}:{BIN}:/usr/bin:/bin",
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color",
        }
        shutil.rmtree(HOME)


def _replace(file: Path, old: str, new: str) -> None:
    text = file.read_text(encoding="utf-8")
    assert old in text, f"{file} has no {old!r}"
    file.write_text(text.replace(old, new), encoding="utf-8")


@dataclass
class Person:
    """A person at a terminal.

    Attributes:
        terminal: the person's side of it.
        codes: a pipe, to which the shell writes the exit code of each command before it prints its prompt.
        code: the exit code of the last command.
        events: what the terminal has shown, with the seconds since the start.
    """

    terminal: int
    codes: int
    code: int = 0
    events: list[tuple[float, str]] = field(default_factory=list)
    _start: float = field(default_factory=time.monotonic)
    _last: float = field(default_factory=time.monotonic)
    _decoder: codecs.IncrementalDecoder = field(default_factory=codecs.getincrementaldecoder("utf-8"))

    @property
    def shown(self) -> str:
        """All that the terminal has shown."""
        return "".join(data for _seconds, data in self.events)

    def type(self, command: str) -> None:
        """Type a command, and wait for its end and the next prompt."""
        for character in f"{command}\n":
            os.write(self.terminal, character.encode())
            self.wait(TYPING)
        self.wait_for_prompt()

    def wait_for_prompt(self) -> None:
        """Wait for the end of a command and the next prompt.

        Raises:
            TimeoutError: there is none.
        """
        end = time.monotonic() + LONGEST
        while not select.select([self.codes], [], [], 0)[0]:
            if time.monotonic() > end:
                raise TimeoutError(f"no prompt after {LONGEST:.0f} s:\n{self.shown}")
            self.wait(0.01)
        self.code = int(os.read(self.codes, 16))
        while not self.shown.endswith(PROMPT):
            self.wait(0.01)

    def wait(self, seconds: float) -> None:
        """Watch the terminal for that long."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if select.select([self.terminal], [], [], left)[0]:
                text = self._decoder.decode(os.read(self.terminal, 65536))
                now = time.monotonic()
                # A later start makes the pause before this shorter.
                self._start += max(0.0, now - self._last - WORKING)
                self._last = now
                self.events.append((now - self._start, HEADING.sub(_fit, text)))

    def read(self) -> None:
        """Watch the terminal for as long as a reader needs."""
        self.wait(READING)
        self._last = time.monotonic()

    def show_all_at_once(self) -> None:
        """Let the recording begin with what the terminal shows now, since it was cleared."""
        shown = self.shown.rpartition(CLEARED)[2]
        self._start = time.monotonic()
        self.events[:] = [(0.0, shown)]


HEADING = re.compile(r"^((?:[A-Z]+ )+(?:\[.*\] )?)\*{3,}", re.MULTILINE)


def _fit(heading: re.Match[str]) -> str:
    """A heading of Ansible as wide as the terminal."""
    return heading[1].ljust(COLUMNS, "*")


PROMPT = "\x1b[34m$\x1b[0m "
CLEARED = "\x1b[3J"
"""The last that `clear` writes."""
OPEN_TERMINAL = 'exec "$@" <"$0" >"$0" 2>&1'
"""Opens the terminal in a new session, whose controlling terminal it becomes."""
BASH = ("bash", "--noprofile", "--norc", "--noediting", "-i")


@contextmanager
def _shell(environment: Mapping[str, str]) -> Iterator[Person]:
    """A shell that waits for its first command."""
    codes, write = os.pipe()
    terminal, side = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    process = subprocess.Popen(
        ["sh", "-c", OPEN_TERMINAL, os.ttyname(side), *BASH],
        cwd=HOME,
        env={**environment, "PS1": PROMPT, "PROMPT_COMMAND": f"echo $? >&{write}"},
        pass_fds=[write],
        start_new_session=True,
    )
    os.close(write)
    try:
        person = Person(terminal, codes)
        person.wait_for_prompt()
        yield person
    finally:
        # The shell ends with its terminal.
        os.close(terminal)
        os.close(side)
        os.close(codes)
        process.wait()
