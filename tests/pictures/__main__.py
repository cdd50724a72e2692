# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""`python -m tests.pictures`: write docs/images, from the code and from two deployments (one fails)."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from getpass import getuser
from pathlib import Path
from socket import gethostname

from playwright.sync_api import sync_playwright

from tests.cluster import packages
from tests.cluster.console import say
from tests.cluster.paths import ROOT
from tests.make.environments import MAIN
from tests.support.browser import ARGUMENTS, PROGRAM
from tests.support.control_plane import control_plane
from tests.support.small_release import SmallRelease, deployment

from . import rooms
from .terminal_svg import COLUMNS, render_terminal

IMAGES = ROOT / "docs" / "images"
WELL, BADLY = "staging", "live-eu"
TIMEOUT = 25
"""Seconds that a component gets: enough for all but the one that fails."""
NO_PULL = "broken.invalid/checkout:2.0"
PERSON = "alice@bastion"
"""Who deploys, in place of the user and the host name of this machine."""
_RESULT = re.compile(r"(FAILED! => )\{.*?\}(?=(\x1b\[0m)?$)", re.MULTILINE)
_ORIGIN = re.compile(r"\n(\x1b\[[0-9;]*m)*Origin: .*?\^ column \d+(\x1b\[0m)?\n", re.DOTALL)
"""The place of a task in its file, with its first lines."""
WIDTH, HEIGHT = 1180, 1340
"""Of the picture of the report, in pixels."""


def shop(folder: Path, checkout_image: str) -> SmallRelease:
    """A release that shows waves, a chain, and components that take their time."""
    release = SmallRelease(folder)
    (folder / "release.yaml").write_text("version: '2.11'\n")
    quick: Mapping[str, str] = {"gateway": "2s", "database": "6s"}
    for name, seconds in quick.items():
        release.component(name, deployment(name, ready_after=seconds), prerequisite=True)
    release.component("catalog", deployment("catalog", ready_after="4s"))
    release.component("checkout", deployment("checkout", image=checkout_image, ready_after="7s"))
    release.component("search", deployment("search", ready_after="9s"), needs=["catalog"])
    release.component("mailer", deployment("mailer", ready_after="3s"))
    release.component("receipts", deployment("receipts", ready_after="5s"), needs=["mailer"])
    release.component("frontend", deployment("frontend", ready_after="2s"), needs=["checkout", "search"])
    return release


def main() -> int:
    """Write all pictures."""
    rooms.write()
    with tempfile.TemporaryDirectory(prefix="kyma-pictures-") as name, ExitStack() as clusters:
        folder = Path(name)
        shop(folder / "releases", "example.com/fine")
        shop(folder / "releases-live", NO_PULL)
        hosts = {
            host: {
                "kyma_kubeconfig": str(clusters.enter_context(control_plane(folder / host))),
                "kyma_release": str(folder / releases),
            }
            for host, releases in ((BADLY, "releases-live"), (WELL, "releases"))
        }
        (folder / "inventory.json").write_text(json.dumps({"all": {"hosts": hosts}}))
        say("deploying to two clusters ...")
        deploy = ["kyma.lifecycle.deploy_kyma", "-e", f"kyma_component_timeout={TIMEOUT}"]
        with ThreadPoolExecutor() as threads:
            _other = threads.submit(_play, folder, *deploy, "--limit", WELL)
            shown = _play(folder, *deploy, "--limit", BADLY)
        page = folder / "report.html"
        _play(folder, "kyma.lifecycle.report", "-e", f"kyma_report={page}")
        page.write_text(page.read_text().replace(f"{getuser()}@{gethostname()}", PERSON))
        command = f"$ ansible-playbook -i inventory.yml {deploy[0]} --limit {BADLY}\n"
        (IMAGES / "terminal.svg").write_text(render_terminal(command + _trimmed(shown)))
        _draw(page, IMAGES / "report.png")
    say(f"{IMAGES}: rooms.svg, terminal.svg and report.png are new")
    return 0


def _play(folder: Path, *arguments: str) -> str:
    """What a terminal shows of a playbook, with its colours; a component may fail."""
    done = subprocess.run(
        [MAIN.bin / "ansible-playbook", "-i", "inventory.json", *arguments],
        cwd=folder,
        env={
            **{one: value for one, value in os.environ.items() if one not in ("NO_COLOR", "ANSIBLE_NOCOLOR")},
            **{one: value for one, value in MAIN.variables.items() if "COLOR" not in one},
            "ANSIBLE_FORCE_COLOR": "1",
            "COLUMNS": str(COLUMNS),
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.stdout


def _trimmed(text: str) -> str:
    """The text without places in files, and without results in JSON, which fill many screens."""
    named = text.replace(str(ROOT / ".build") + "/", "").replace(str(ROOT) + "/", "")
    return _ORIGIN.sub("", _RESULT.sub(r"\1{…}", named))


def _draw(page: Path, target: Path) -> None:
    packages.need(PROGRAM)
    with sync_playwright() as running:
        program = str(packages.find(PROGRAM))
        browser = running.chromium.launch(executable_path=program, args=list(ARGUMENTS))
        shown = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme="light")
        shown.goto(page.as_uri())
        shown.screenshot(path=str(target))
        browser.close()


if __name__ == "__main__":
    sys.exit(main())
