# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A token is in no output, whatever characters it has, on both carriers and however talkative Ansible is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.extent import cases

from .conftest import HERE, THERE, Outcome, Playbooks, play

SERVER = "https://127.0.0.1:1"
WORDS = ("CANARYONE", "CANARYTWO")
FORMS = dict(cases([("broken", "{}\n{}")], [("umlaut", "{}\u00e4{}"), ("nul", "{}\0{}")]))
REFUSED = "which no HTTP header can have"


def kubeconfig(token: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "prod",
        "contexts": [{"name": "prod", "context": {"cluster": "c", "user": "u"}}],
        "clusters": [{"name": "c", "cluster": {"server": SERVER}}],
        "users": [{"name": "u", "user": {"token": token}}],
    }


def tasks(folder: Path, form: str) -> list[dict[str, Any]]:
    """Tasks of each way to a token; the first part is in the foreground, the second in the background."""
    token = FORMS[form].format(*WORDS)
    (folder / form).mkdir()
    (folder / form / "config").write_text(json.dumps(kubeconfig(token)))
    sources: dict[str, dict[str, Any]] = {
        "file": {"kubeconfig": str(folder / form / "config")},
        "inline": {"kubeconfig": kubeconfig(token)},
        "option": {"host": SERVER, "api_key": token},
    }
    named: list[dict[str, Any]] = []
    for source, options in sources.items():
        named.append({"name": f"read {source} {form}", "kyma.lifecycle.run_info": options})
        delete = {"name": "j", "namespace": "n", "state": "absent", **options}
        named.append({"name": f"write {source} {form}", "kyma.lifecycle.stored_job": delete})
    if form == "broken":
        # Exceptions may quote all that a task knows as secret.
        sendable = "".join(WORDS)
        values = {"a": token, "b": token[::-1]}
        quick = {"host": SERVER, "api_key": sendable, "defect": True, "values": values}
        slow = {"kubeconfig": kubeconfig(sendable), "defect": True}
        named.append({"name": "quick defect", "kyma_test.carried.quick": quick})
        named.append({"name": "slow defect", "kyma_test.carried.slow": slow})
    return [{**one, "ignore_errors": True} for one in named]


@pytest.fixture(scope="module")
def books(playbooks: Playbooks) -> dict[str, list[dict[str, Any]]]:
    return {form: tasks(playbooks.folder, form) for form in FORMS}


@pytest.fixture(scope="module")
def outcome(playbooks: Playbooks, books: dict[str, list[dict[str, Any]]]) -> Outcome:
    playbooks.environment |= {
        "ANSIBLE_VERBOSITY": "4",
        "ANSIBLE_DISPLAY_TRACEBACK": "always",
        "ANSIBLE_LOG_PATH": str(playbooks.folder / "log"),
    }
    given = playbooks.run(play(*(task for book in books.values() for task in book)))
    playbooks.environment |= {"K8S_AUTH_HOST": SERVER, "K8S_AUTH_API_KEY": "\n".join(WORDS)}
    task = {"name": "read environment broken", "kyma.lifecycle.run_info": {}, "ignore_errors": True}
    ours = playbooks.run(play(task))
    return Outcome(ours.status, [*given.lines, *ours.lines], {**given.results, **ours.results})


def leaks(text: str) -> list[str]:
    words = (*WORDS, *(word[::-1] for word in WORDS))
    return [line for line in text.splitlines() if any(word in line for word in words)]


def test_the_token_is_on_no_terminal_in_no_log_and_in_no_result(
    playbooks: Playbooks, outcome: Outcome
) -> None:
    assert leaks(outcome.text) == []
    assert leaks((playbooks.folder / "log").read_text()) == []
    assert {name: one for name, one in outcome.results.items() if leaks(json.dumps(one))} == {}


@pytest.mark.parametrize("form", FORMS)
def test_the_token_is_refused_by_its_source(
    playbooks: Playbooks, books: dict[str, list[dict[str, Any]]], outcome: Outcome, form: str
) -> None:
    sources = {
        "file": f"context prod of {playbooks.folder}/{form}/config: the token",
        "inline": "context prod of the given kubeconfig: the token",
        "option": "the option api_key",
        "environment": "K8S_AUTH_API_KEY",
    }
    for host in (HERE, THERE):
        names = [task["name"] for task in books[form]]
        for name in [*names, "read environment broken"]:
            verb, _space, rest = name.partition(" ")
            if verb in ("read", "write"):
                message = outcome.results[host, name]["msg"]
                assert REFUSED in message, (host, name)
                assert sources[rest.split()[0]] in message


def test_an_unexpected_exception_is_reported_alike_with_its_place(outcome: Outcome) -> None:
    for name in ("quick defect", "slow defect"):
        here, there = (outcome.results[host, name] for host in (HERE, THERE))
        assert here["msg"] == there["msg"]
        assert here["msg"].startswith("unexpected: ZeroDivisionError: a defect with ")
        assert "***" in here["msg"]
        for result in (here, there):
            assert result["failed"] is True
            assert "raise ZeroDivisionError" in result["exception"]
