# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""`python -m tests.pictures`: write docs/images, from the code and from real deployments.

The recording of a terminal is of one cluster, and the report of two, of which one fails.
"""

from __future__ import annotations

import json
import os
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
from tests.make.environments import MAIN
from tests.support.browser import ARGUMENTS, PROGRAM
from tests.support.control_plane import control_plane
from tests.support.small_release import SmallRelease, deployment

from . import cast_svg, rooms
from .cast_svg import CAST, IMAGES
from .recording import record

WELL, BADLY = "staging", "live-eu"
TIMEOUT = 25
"""Seconds that a component gets: enough for all but the one that fails."""
NO_PULL = "broken.invalid/checkout:2.0"
PERSON = "alice@bastion"
"""Who deploys, in place of the user and the host name of this machine."""
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
        say("recording an upgrade ...")
        with control_plane(folder / "recorded") as kubeconfig:
            CAST.write_text(record(kubeconfig).render(), encoding="utf-8")
        cast_svg.write()
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
        deploy = ("kyma.lifecycle.deploy_kyma", "-e", f"kyma_component_timeout={TIMEOUT}", "--limit")
        with ThreadPoolExecutor() as threads:
            list(threads.map(lambda host: _play(folder, *deploy, host), hosts))
        page = folder / "report.html"
        _play(folder, "kyma.lifecycle.report", "-e", f"kyma_report={page}")
        page.write_text(page.read_text().replace(f"{getuser()}@{gethostname()}", PERSON))
        _draw(page, IMAGES / "report.png")
    say(f"{IMAGES}: rooms.svg, upgrade.cast, upgrade.svg and report.png are new")
    return 0


def _play(folder: Path, *arguments: str) -> None:
    """Run a playbook; a component may fail."""
    program = MAIN.bin / "ansible-playbook"
    environment = {**os.environ, **MAIN.variables}
    subprocess.run([program, "-i", "inventory.json", *arguments], cwd=folder, env=environment, check=False)


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
