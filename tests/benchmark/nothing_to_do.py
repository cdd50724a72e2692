# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A deployment that has nothing to do, against a playbook with a single ping."""

from __future__ import annotations

import re
from pathlib import Path

from tests.cluster.console import timed

from .comparison import Comparison, compare
from .larger import larger
from .running import ANSIBLE_PLAYBOOK, BenchmarkError, Done, Place

PING = """\
- hosts: "{{ groups['all'] or 'localhost' }}"
  gather_facts: false
  connection: local
  tasks:
    - ansible.builtin.ping:
"""


def nothing_to_do(place: Place, release: Path, *, copies: int, bound: float, rounds: int) -> Comparison:
    """Deploy a release with this many copies of its objects, and time what comes after.

    Args:
        place: where to work.
        release: whose objects are copied.
        copies: 1 for the release as it is.
        bound: what the ratio may be at most.
        rounds: how often each side is timed.
    """
    ping = place.folder / "ping.yml"
    ping.write_text(PING, encoding="utf-8")
    if copies > 1:
        release = larger(release, place.folder / f"{copies}-fold" / release.name, copies)
    with place.cluster() as kubeconfig:

        def deploy() -> float:
            return _unchanged(place.deploy(release, kubeconfig)).seconds

        def answer() -> float:
            return place.run([ANSIBLE_PLAYBOOK, ping], kubeconfig).seconds

        with timed(f"deploying Kyma {release.name}, {copies}-fold"):
            place.deploy(release, kubeconfig)
        deploy(), answer()  # so that files are in memory and compiled
        count = re.search(r"(\d+) objects as deployed", place.deploy(release, kubeconfig).printed)
        ours = f"nothing to do, {count[1] if count else 'all'} objects"
        return compare(ours, deploy, "one ping", answer, bound=bound, rounds=rounds)


def _unchanged(done: Done) -> Done:
    if not re.search(r"ok=1 +changed=0 ", done.printed):
        raise BenchmarkError(f"The deployment had something to do:\n{done.printed[-4000:]}")
    return done
