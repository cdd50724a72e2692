# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What each output of one call of the playbook says of its hops, to compare them sentence by sentence."""

from __future__ import annotations

import html
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from .kubectl import kubectl
from .own_cluster import OwnCluster
from .playbook_run import Outcome

FILES = {"report": "report.html", "summary": "summary.md", "junit": "junit.xml"}
VERBS = {"create": "created", "change": "changed", "replace": "replaced", "delete": "deleted"}
ABOUT_WRITING = re.compile(
    r"\b(?:not|nothing|was|were|is|are)(?: \w+)? (?:written|deployed|applied)\b"
    r"|\b\d+ (?:created|changed|deleted)\b"
)
"""What a sentence about what was written has."""


@dataclass(frozen=True)
class Said:
    """What one output says.

    Attributes:
        target: from which release to which.
        way: its lines about the hops.
        others: its other lines that say something about what was written.
    """

    target: str
    way: list[str]
    others: list[str]


class HopOutputs:
    """The outputs of one call of the playbook, with the files that :meth:`files` names.

    Args:
        outcome: of the call, for one cluster.
        folder: with its files.
    """

    def __init__(self, outcome: Outcome, folder: Path) -> None:
        self._outcome = outcome
        self._folder = folder
        self.result = [one for one in outcome.results if {"cluster", "changes"} <= one.keys()][-1]
        self.hops: list[dict[str, Any]] = self.result["hops"]

    @staticmethod
    def files(folder: Path) -> dict[str, str]:
        """The options that name the files."""
        return {name: str(folder / file) for name, file in FILES.items()}

    @property
    def all(self) -> dict[str, Said]:
        """What each output says, by its name."""
        return {
            "terminal": self.terminal,
            "report": self.report,
            "summary": self.summary,
            "junit": self.junit,
        }

    @property
    def last_lines(self) -> list[str]:
        """The last lines on the terminal, with wrapped ones as one."""
        text = self._outcome.text.rpartition("PLAY RECAP")[2]
        return text[text.index("localhost: ") :].replace("\n  ", " ").splitlines()

    @property
    def terminal(self) -> Said:
        """The last lines, and the messages of tasks before them."""
        lines = self.last_lines
        return _said(_way(lines[0]), [*self._messages(), *lines[1:]])

    def _messages(self) -> list[str]:
        # Lines of progress and plans are printed before the end of a hop.
        return [str(one["msg"]).splitlines()[0] for one in self._outcome.results if one.get("failures")]

    @property
    def report(self) -> Said:
        """The HTML file."""
        text = (self._folder / FILES["report"]).read_text("utf-8").partition("<body>")[2]
        lines = [html.unescape(re.sub(r"<[^>]+>", " ", line)).strip() for line in text.splitlines()]
        head = next(line for line in lines if line.startswith("localhost "))
        return _said(_way(head), [line for line in lines if line])

    @property
    def summary(self) -> Said:
        """The Markdown file."""
        lines = (self._folder / FILES["summary"]).read_text("utf-8").splitlines()
        title = next(line for line in lines if line.startswith("localhost: "))
        rows = [line.strip("| ").split(" | ") for line in lines if line.startswith("| localhost")]
        assert [" → ".join(row[1:3]) for row in rows] == [_way(title)]
        return _said(_way(title), lines)

    @property
    def junit(self) -> Said:
        """The XML file."""
        suite = ElementTree.fromstring((self._folder / FILES["junit"]).read_text("utf-8"))[0]
        values = {one.get("name", ""): one.get("value", "") for one in suite[0]}
        texts = [text for text in suite.itertext() if text.strip()]
        lines = [line for text in (values["hops"], *texts) for line in text.splitlines()]
        return _said(f"{values['from']} → {values['to']}", lines)


def _way(line: str) -> str:
    match = re.search(r"(\S+) → ([^\s,]+)", line)
    assert match, line
    return f"{match[1]} → {match[2]}"


def _said(target: str, lines: list[str]) -> Said:
    way = [
        line for line in lines if re.match(r"\d+\. \S+ → |\S+ was deployed completely|the way leads", line)
    ]
    # The table of components has numbers in cells, and no sentence.
    others = [line for line in lines if line not in way and ABOUT_WRITING.search(line) and "|" not in line]
    return Said(target, way, others)


def sums_of(counts: dict[str, int]) -> str:
    """What was written, as people read it."""
    objects = [f"{counts[key]} {verb}" for key, verb in VERBS.items() if counts[key] or key != "replace"]
    migrations = counts["migrations"]
    return ", ".join([*objects, f"{migrations} migration{'' if migrations == 1 else 's'}"])


def installation_of(cluster: OwnCluster) -> dict[str, str]:
    """What ``kubectl get kyin`` shows, by column, and the message of its condition."""
    head, row = kubectl(cluster.kubeconfig, "get", "kyin").splitlines()
    # The last title may be shorter than its value.
    titles = re.finditer(r"\S+(?: \S+)*\s*", head.ljust(len(row)))
    columns = [(match[0].strip(), *match.span()) for match in titles]
    status = json.loads(kubectl(cluster.kubeconfig, "get", "kyin", "kyma", "-o", "json"))["status"]
    [message] = [one["message"] for one in status["conditions"] if one["type"] == "Deployed"]
    return {**{name: row[start:end].strip() for name, start, end in columns}, "message": message}


def recorded_writes(cluster: OwnCluster) -> dict[str, dict[str, int]]:
    """What the record of each run says that it has written, by the name of the run."""
    runs = json.loads(kubectl(cluster.kubeconfig, "get", "kyrun", "-o", "json"))["items"]
    counted = {}
    for run in runs:
        status = run["status"]
        parts = list((status.get("components") or {}).values())
        sums = {key: sum(one.get(verb) or 0 for one in parts) for key, verb in VERBS.items()}
        wrote = [one for one in (status.get("migrations") or {}).values() if one.get("wrote")]
        counted[run["metadata"]["name"]] = {**sums, "migrations": len(wrote)}
    return counted


def assert_outputs_agree_on_a_refused_end(outputs: HopOutputs, cluster: OwnCluster) -> None:
    """After some hops the last one is refused: all outputs, records and ``kubectl get kyin`` agree."""
    *done, refused = outputs.hops
    assert outputs.result["state"] == refused["state"] == "refused"
    assert {hop["state"] for hop in done} == {"succeeded"}
    recorded = recorded_writes(cluster)
    assert all(hop["written"] == recorded[hop["run"]] for hop in done)
    assert all(sum(hop["written"].values()) > 0 and hop["seconds"] > 0 for hop in done)
    assert (refused["run"], set(refused["written"].values())) == ("", {0})
    assert refused["failures"] == outputs.result["failures"]
    here = done[-1]["to"]
    way = [
        f"{number}. {hop['from']} → {hop['to']}: succeeded, {hop['seconds']:.1f} s: {sums_of(hop['written'])}"
        for number, hop in enumerate(done, 1)
    ]
    count = len(refused["failures"])
    way += [
        f"{len(outputs.hops)}. {here} → {refused['to']}: refused: nothing was written",
        f"{here} was deployed completely, and the hop to {refused['to']} is refused, for {count}"
        f" reason{'' if count == 1 else 's'}",
    ]
    said = outputs.all
    assert {name: one.way for name, one in said.items()} == dict.fromkeys(said, way)
    target = f"{outputs.hops[0]['from']} → {refused['to']}"
    assert {name: one.target for name, one in said.items()} == dict.fromkeys(said, target)
    assert {name: one.others for name, one in said.items()} == {name: [] for name in said}
    installed = installation_of(cluster)
    assert (installed["VERSION"], installed["DEPLOYED"], installed["TARGET"]) == (here, "True", here)
    assert installed["LAST RUN"] == done[-1]["run"]
    assert installed["message"] == f"{here} was deployed completely"
    assert "next: correct the blockers, then run the same playbook again: it continues" in outputs.last_lines
