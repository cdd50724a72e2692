# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A fleet with nothing to do: CPU seconds of each cluster, and the memory of Ansible's main process."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

import yaml

from tests.cluster.console import say

from .bounds import MB
from .measurements import Figure, Measurements, Sample, typical
from .names import FLEET, PING
from .running import ANSIBLE_PLAYBOOK, BenchmarkError, Cluster, Place
from .tools.ours import AGENT, DEPLOY, PING_PLAYBOOK
from .workload import PROFILE

RINGS = {"canary": 4, "early": 46, "rest": 150}
"""How many hosts each ring has."""
HOSTS = sum(RINGS.values())
CLUSTERS = 3
"""How many control planes the hosts share."""
ROUNDS = 1
SHARE = 0.25
"""CPU seconds of each host, above those that a ping takes."""
MAIN = 100.0
PLAIN, IN_RINGS = "without rings", "with three rings"
CALLS: dict[str, dict[str, object]] = {PLAIN: {}, IN_RINGS: {"kyma_rings": list(RINGS)}}
"""Variables of the calls."""


def measure_fleet(place: Place, measurements: Measurements, release: Path, most: int | None = None) -> None:
    """Measure calls of deploy_kyma for many hosts that have the release.

    Args:
        place: where to work.
        measurements: gets the figures.
        release: a folder with a release of Kyma.
        most: at most so many rounds.

    Raises:
        BenchmarkError: something failed.
    """
    say("a fleet:")
    with ExitStack() as stack:
        clusters = [stack.enter_context(place.cluster(f"cluster-{number}")) for number in range(CLUSTERS)]
        trial = _Trial(place, clusters, release)
        trial.prepare()
        measurements.figures += trial.measure(min(most or ROUNDS, ROUNDS))


class _Trial:
    """The measurements of one fleet."""

    def __init__(self, place: Place, clusters: Sequence[Cluster], release: Path) -> None:
        self._place = place
        self._clusters = clusters
        self._variables = {"kyma_release": str(release), "kyma_profile": PROFILE}
        self._inventory = self._written("fleet.yml", inventory(clusters))

    def prepare(self) -> None:
        """Deploy the release; again, so that the fields that controllers have taken since are recorded."""
        for cluster in self._clusters:
            for _time in range(2):
                variables = self._written("variables.yml", self._variables)
                self._place.run([ANSIBLE_PLAYBOOK, DEPLOY, "-e", f"@{variables}"], cluster, AGENT)
        # What was deployed without rings may be adopted.
        self._call(IN_RINGS)

    def measure(self, rounds: int) -> list[Figure]:
        """Call the playbook in each way, with a ping of all hosts after it."""
        ping = self._place.folder / "ping.yml"
        ping.write_text(PING_PLAYBOOK, encoding="utf-8")
        samples: dict[str, list[Sample]] = {PING: [], **{way: [] for way in CALLS}}
        for _round in range(rounds):
            for way in CALLS:
                samples[way].append(self._call(way))
            done = self._place.run([ANSIBLE_PLAYBOOK, "-i", self._inventory, ping], self._clusters[0])
            samples[PING].append(done.sample)
        listed = list(figures_of({way: typical(each) for way, each in samples.items()}))
        for figure in listed:
            say(f"  {figure.what}: {figure.value:.2f} {figure.unit}")
        return listed

    def _call(self, way: str) -> Sample:
        """Call the playbook for all hosts; none may have anything to do but to adopt the release."""
        variables = self._written("variables.yml", {**self._variables, **CALLS[way]})
        command: list[str | Path] = [ANSIBLE_PLAYBOOK, DEPLOY, "-i", self._inventory, "-e", f"@{variables}"]
        done = self._place.run(command, self._clusters[0])
        if re.search(r"changed=[1-9]", done.printed):
            raise BenchmarkError(f"There was something to do:\n{done.printed[-4000:]}")
        return done.sample

    def _written(self, name: str, content: object) -> str:
        file = self._place.folder / name
        file.write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
        return str(file)


def inventory(clusters: Sequence[Cluster]) -> Mapping[str, object]:
    """The rings as groups; the hosts share the clusters in turn."""
    names = iter(range(HOSTS))
    return {
        ring: {
            "hosts": {
                f"cluster-{number:03}": {"kyma_kubeconfig": str(clusters[number % len(clusters)].kubeconfig)}
                for _host, number in zip(range(count), names, strict=False)
            }
        }
        for ring, count in RINGS.items()
    }


def figures_of(samples: Mapping[str, Sample]) -> Iterator[Figure]:
    """What the fleet takes, with and without rings."""
    ping = samples[PING]
    for way in CALLS:
        one = samples[way]
        what = f"{HOSTS} clusters with nothing to do, {way}"
        share = (one.cpu - ping.cpu) / HOSTS
        yield Figure(f"CPU of each of {what}, above the share of a ping", share, "s", SHARE, part=FLEET)
        yield Figure(f"memory of the main process of {what}", one.main / MB, "MB", MAIN, part=FLEET)
        yield Figure(f"memory of the largest process of {what}", one.peak / MB, "MB", part=FLEET)
        yield Figure(f"time of {what}", one.seconds, "s", part=FLEET)
        yield Figure(f"time of {what}, times {PING}", one.seconds / ping.seconds, part=FLEET)
