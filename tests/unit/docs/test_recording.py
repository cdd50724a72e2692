# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The recording of an upgrade shows what the collection prints today, and its picture is drawn from it."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise
from xml.etree import ElementTree

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.durations import render_brief_durations
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.hop_lines import NOTHING_WRITTEN
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._last_lines.playbook_summary import (
    FAILED,
    NEXT_STEPS,
    PLANNED,
)

from tests.cluster.paths import ROOT
from tests.pictures.cast import Cast
from tests.pictures.cast_svg import CAST, CHARACTER, HARD_SPACE, PICTURE, draw, render_cast, replay
from tests.pictures.recording import CLUSTER, COLUMNS, HOME, READING, ROWS, STORY, TITLE

RECORDING = Cast.parse(CAST.read_text(encoding="utf-8"))
LONGEST = 40
"""Seconds that people watch."""
BIGGEST = 300_000
"""Bytes of the picture."""
SVG = "{http://www.w3.org/2000/svg}"
PATH = re.compile(r"(?<![\w./])/\w[\w.-]*/[\w./-]*")
ROW = re.compile(rf"^\[{CLUSTER}\] (component|migration) +(\S+) +(\w+) +([\d.]+)$", re.MULTILINE)
TASK = re.compile(r"^TASK \[(?:[\w.]+ : )?(.+?)\] \*", re.MULTILINE)
SMALL = Cast(
    "Small", 20, 2, 1.0, [(0.1, "$ ls\r\n"), (5.0, "a <b>\r\n"), (5.5, "\x1b[31mred\x1b[0m  x\r\n$ ")]
)


def missing_tasks(text: str) -> list[str]:
    """The tasks in the output of playbooks that no role or playbook has, except names with a template."""
    files = [path for folder in ("roles", "playbooks") for path in (ROOT / folder).rglob("*.yml")]
    known = "\n".join(path.read_text(encoding="utf-8") for path in files)
    names = {re.sub(r"^Deploy .*", "Deploy ", name) for name in TASK.findall(text)}
    return sorted(name for name in names if f"name: {name}" not in known and name != "Deploy ")


def test_the_recording_has_the_story_and_its_times() -> None:
    assert (RECORDING.title, RECORDING.columns, RECORDING.rows) == (TITLE, COLUMNS, ROWS)
    assert RECORDING.idle_limit == READING
    times = [seconds for seconds, _data in RECORDING.events]
    assert all(before <= after for before, after in pairwise(times))
    assert LONGEST / 2 < RECORDING.seconds <= LONGEST
    assert RECORDING.text.startswith("$ # ")
    typed = re.findall(r"^\$ (.+)$", RECORDING.text, re.MULTILINE)
    assert typed == [line for step in STORY for line in (f"# {step.comment}", step.command)]
    assert Cast.parse(RECORDING.render()) == RECORDING


def test_the_recording_shows_nothing_of_the_machine() -> None:
    paths = set(PATH.findall(RECORDING.text))
    assert paths
    assert {path for path in paths if not path.startswith((f"{HOME}/", "/dev/termination-log"))} == set()
    assert re.findall(r"\w@\w", RECORDING.text) == []


def test_the_recording_shows_what_the_collection_prints() -> None:
    assert missing_tasks(RECORDING.text) == []
    steps = (f"{NOTHING_WRITTEN}; {NEXT_STEPS[PLANNED]}", NEXT_STEPS[FAILED])
    unwrapped = RECORDING.text.replace("\n  ", " ")
    assert [f"next: {step}" in unwrapped for step in steps] == [True, True]
    last = RECORDING.text.split("\nPLAY RECAP ")[-2]
    rows = [
        {"kind": kind, "name": name, "state": state, "seconds": seconds}
        for kind, name, state, seconds in ROW.findall(last)
    ]
    table = "\n".join(f"[{CLUSTER}] {line}" for line in render_brief_durations(rows))
    assert rows
    assert f"{table}\n" in last


def test_the_picture_is_drawn_from_the_recording() -> None:
    assert PICTURE.read_text(encoding="utf-8") == draw(), "run `make fix`"
    assert PICTURE.stat().st_size <= BIGGEST


def test_the_picture_has_a_title_a_description_and_all_text() -> None:
    root = ElementTree.parse(PICTURE).getroot()
    described = [root.findtext(f"{SVG}{name}") for name in ("title", "desc")]
    assert described == [TITLE, " ".join(step.comment for step in STORY)]
    assert root.get("aria-labelledby") == "title description"
    lines: dict[str, str] = {}
    for text in root.iter(f"{SVG}text"):
        line = lines.get(text.attrib["y"], "")
        lines[text.attrib["y"]] = line.ljust(int(text.attrib["x"]) // CHARACTER) + (text.text or "")
    shown = {line.replace(HARD_SPACE, " ") for line in lines.values()}
    written = {line.rstrip() for line in RECORDING.text.splitlines() if line.strip()}
    assert {line for line in written if len(line) <= COLUMNS} <= shown


def test_the_picture_begins_with_a_plan_and_stands_still_at_a_reason() -> None:
    first = replace(RECORDING, events=RECORDING.events[:1])
    assert first.seconds == 0.0
    assert "Plan: 0 to create, 1 to change" in first.text
    shown = render_cast(
        replace(SMALL, events=[(0.0, "record: kubectl\r\n"), (0.5, "$ "), (2.0, "x\r\ny\r\n")])
    )
    assert "#cursor{transform:translate(16px,18px)}" in shown


def test_the_picture_needs_no_scripts_and_respects_reduced_motion() -> None:
    drawn = render_cast(SMALL)
    assert "<script" not in drawn
    moving = re.findall(r"[^\n]*\{animation:", drawn)
    assert len(moving) == 2
    assert all(line.startswith("@media (prefers-reduced-motion:no-preference)") for line in moving)
    # Without motion, the last two of four lines are shown, with the cursor behind the prompt.
    assert "#lines{transform:translate(0,-36px)}" in drawn
    assert "#cursor{transform:translate(16px,54px)}" in drawn


def test_pauses_are_shortened_and_the_last_one_is_shown() -> None:
    assert [seconds for seconds, _data in SMALL.played()] == pytest.approx([0.1, 1.1, 1.6])
    drawn = render_cast(SMALL)
    assert "animation:lines 2.6s step-end infinite" in drawn
    assert "42.308%{transform:translate(0,-18px)}" in drawn


def test_text_keeps_its_place_and_its_colour() -> None:
    drawn = render_cast(SMALL)
    assert 'y="31" textLength="40" lengthAdjust="spacingAndGlyphs">a\xa0&lt;b&gt;</text>' in drawn
    assert 'x="0" y="49" textLength="24" lengthAdjust="spacingAndGlyphs" class="red">red</text>' in drawn
    assert ">\xa0\xa0x</text>" in drawn


def test_a_long_line_is_wrapped_like_in_a_terminal() -> None:
    screen, moments = replay(replace(SMALL, events=[(0.0, "x" * 25)]))
    assert [screen.display[0], screen.display[1].rstrip()] == ["x" * 20, "x" * 5]
    assert (moments[-1].line, moments[-1].column) == (1, 5)


@pytest.mark.parametrize("data", ["\rb", "\x1b[Ab", "\x1b[2J"])
def test_a_program_that_changes_what_it_has_written_is_refused(data: str) -> None:
    with pytest.raises(ValueError, match="changes what was written before"):
        replay(replace(SMALL, events=[*SMALL.events, (6.0, "aa"), (7.0, data)]))


@pytest.mark.parametrize("text", ['{"version": 3}', '{"version": 2}\n[0.1, "i", "x"]'])
def test_another_version_or_input_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not"):
        Cast.parse(text)


def test_a_task_that_was_renamed_is_reported() -> None:
    assert missing_tasks("TASK [kyma.lifecycle.kyma : Plan the world] ***\n") == ["Plan the world"]
