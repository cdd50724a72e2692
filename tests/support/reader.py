# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A reader of the first pages, who has installed the collection, and pastes commands into a shell."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.cluster.paths import BIN, BUILD, ROOT
from tests.make.content import COLLECTIONS, DEPENDENCIES, tracked_files
from tests.make.environments import base_python

from .own_cluster import OwnCluster

_MARK = "@@ end of command:"


@dataclass(frozen=True)
class Page:
    """A page in Markdown.

    Attributes:
        text: of the page.
    """

    text: str

    def blocks(self, heading: str, language: str = "console") -> list[str]:
        """The blocks of code below a heading."""
        section = self.text.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
        return re.findall(rf"^```{language}\n(.*?)^```", section, re.MULTILINE | re.DOTALL)

    def scripts(self, heading: str) -> list[str]:
        """The commands of each block of a console below a heading."""
        return [typed(block) for block in self.blocks(heading)]


README, INSTALL, PLAYBOOKS = (
    Page((ROOT / name).read_text(encoding="utf-8"))
    for name in ("README.md", "docs/install.md", "docs/playbooks.md")
)


def typed(block: str) -> str:
    """The commands of a block without output, as a script."""
    return re.sub(r"^\$ ", "", block, flags=re.MULTILINE)


@dataclass(frozen=True)
class Reader:
    """A reader with a checkout, Python, and a kubeconfig of a cluster.

    Attributes:
        home: what `~` means.
        cluster: the cluster of the kubeconfig.
    """

    home: Path
    cluster: OwnCluster

    @property
    def collection(self) -> Path:
        """The folder of the installed collection."""
        return self.home / ".ansible" / "collections" / COLLECTIONS / "kyma" / "lifecycle"

    def paste(self, script: str, folder: Path, *arguments: str) -> str:
        """What a shell prints of commands, with nothing of the tests' own around it.

        Args:
            script: the commands; the first that fails ends the test.
            folder: where the shell begins.
            arguments: of the script.
        """
        done = self._shell(["-exc", script, "sh", *arguments], folder)
        assert done.returncode == 0, done.stdout
        return done.stdout

    def paste_installed(self, script: str, *arguments: str) -> str:
        """The same in the folder of the collection, with the environment that the page Install creates."""
        return self.paste(f". ~/kyma/bin/activate\n{script}", self.collection, *arguments)

    def paste_each(self, commands: Sequence[str], folder: Path) -> list[tuple[int, str]]:
        """The exit code and the output of each command, all in one shell with the collection."""
        marked = [f"{command}\nprintf '\\n{_MARK} %s\\n' \"$?\"" for command in commands]
        done = self._shell(["-c", "\n".join([". ~/kyma/bin/activate", *marked])], folder)
        ends = re.findall(rf"(.*?)\n{_MARK} (\d+)\n", done.stdout, re.DOTALL)
        assert len(ends) == len(commands), done.stdout
        return [(int(code), printed) for printed, code in ends]

    def _shell(self, arguments: Sequence[str], folder: Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["sh", *arguments],
            cwd=folder,
            env={
                **{name: value for name, value in os.environ.items() if name.startswith("PIP_")},
                "HOME": str(self.home),
                "PATH": f"{self.home / 'bin'}:/usr/bin:/bin",
                "LANG": os.environ.get("LANG", "C.UTF-8"),
                "PIP_CACHE_DIR": os.environ.get("PIP_CACHE_DIR", str(Path.home() / ".cache" / "pip")),
                "PIP_NO_COMPILE": "1",
                "KUBECONFIG": str(self.cluster.kubeconfig),
                "ANSIBLE_NOCOLOR": "1",
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )


def installed_reader(home: Path, cluster: OwnCluster) -> Reader:
    """A reader who has built a tarball and installed it; ``kubernetes.core`` is there already.

    Args:
        home: an empty folder.
        cluster: the cluster of the kubeconfig.
    """
    (home / "bin").mkdir()
    (home / "bin" / "python3").symlink_to(base_python())
    for program in ("kubectl", "helm"):
        (home / "bin" / program).symlink_to(BIN / program)
    checkout = home / "checkout"
    for file in tracked_files():
        (checkout / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / file, checkout / file)
    for namespace, name in DEPENDENCIES:
        collections = home / ".ansible" / "collections" / COLLECTIONS / namespace
        collections.mkdir(parents=True)
        (collections / name).symlink_to(BUILD / COLLECTIONS / namespace / name)
    reader = Reader(home, cluster)
    environment, installation = INSTALL.scripts("Install the collection")
    (building,) = INSTALL.scripts("In a checkout")
    install = re.compile(r"(collection install \S+\.tar\.gz)$", re.MULTILINE)
    script, replaced = install.subn(r"\1 --no-deps", f"{environment}{building}{installation}")
    assert replaced == 1
    reader.paste(script, checkout)
    shutil.rmtree(checkout)
    return reader
