# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The record of a run stays small, however much there is to tell."""

from __future__ import annotations

import json
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Ref
from ansible_collections.kyma.lifecycle.plugins.module_utils._migrations.results import MigrationOutcome
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.ownership.findings import (
    DriftOutcome as Fate,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.ownership.findings import Finding
from ansible_collections.kyma.lifecycle.plugins.module_utils._result_codec import to_result
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.outcomes import ComponentOutcome
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.run_size import (
    LARGEST_SHARE,
    LONGEST_TEXT,
    ROOM,
    shorten_status,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils.migration import (
    Context,
    Migration,
    Phase,
    Verdict,
    needed,
    not_needed,
)

from tests.support.driver import Entries, config_map, deployer, release
from tests.support.extent import examples

HALF = 512 * 1024
FINDINGS = examples(300, 3_000)
"""Of each of 60 components."""


def size(value: Any) -> int:
    return len(json.dumps(value).encode())


def finding(number: int) -> Finding:
    ref = Ref("apps", "Deployment", "kyma-system", f"workload-number-{number}")
    field = 'spec.template.spec.containers[name="main"].image'
    return Finding(ref, field, "kubectl-edit", "2026-11-22T12:00:00Z", Fate.RESTORED)


def outcome(name: str = "logging", findings: int = 0, **more: Any) -> dict[str, Any]:
    some = tuple(map(finding, range(findings)))
    return to_result(ComponentOutcome(name, "succeeded", findings=some, **more))


def test_a_short_status_is_recorded_unchanged() -> None:
    status = {
        "cancelled": "alice",
        "seconds": 1.5,
        "phases": {"components": {"state": "failed", "seconds": 1}},
        "components": {"logging": outcome(findings=3, warnings=("mind the gap",), error="too bad")},
        "migrations": {"logging/one": to_result(MigrationOutcome("logging/one", "logging", "pre", "done"))},
    }
    shortened = shorten_status(status)
    assert [
        one.pop("left_out") for key in ("components", "migrations") for one in shortened[key].values()
    ] == [
        None,
        None,
    ]
    assert shortened == status


def test_of_long_lists_the_first_are_kept_and_the_rest_is_counted() -> None:
    whole = outcome(findings=1200, warnings=tuple(f"warning {number}" for number in range(3)))
    shortened = shorten_status({"components": {"logging": whole}})["components"]["logging"]
    assert size(shortened) < LARGEST_SHARE + 200
    assert shortened["warnings"] == whole["warnings"]
    number = len(shortened["drift"])
    assert number > 10
    assert shortened["drift"] == whole["drift"][:number]
    assert shortened["left_out"] == f"drift: {number} of 1200 are kept here, and all in the task's result"


def test_a_shortened_status_still_names_entries_that_were_left_out_before() -> None:
    again = {**outcome(warnings=("x" * 100,) * 1000), "left_out": "drift: 20 of 1200"}
    assert shorten_status({"components": {"a": again}})["components"]["a"]["left_out"].startswith(
        "drift: 20 of 1200; warnings: "
    )


@pytest.mark.parametrize("letter", ["x", "ä", "\N{SNOWMAN}", '"'])
def test_long_texts_are_cut_with_a_word(letter: str) -> None:
    error = letter * 100_000
    shortened = shorten_status({"components": {"a": outcome(error=error)}, "cancelled": error})
    for text, longest in (
        (shortened["components"]["a"]["error"], LARGEST_SHARE),
        (shortened["cancelled"], LONGEST_TEXT),
    ):
        assert len(text.encode()) < longest + 100
        start = len(text) - len(text.lstrip(letter))
        assert text.endswith(f"... ({100_000 - start} characters more, which the task's result has)")


def test_values_that_later_tasks_use_are_never_cut() -> None:
    wide = tuple(f"definitions{number}.example.com" for number in range(200))
    entry = outcome("n" * 63, wide=wide, findings=1000)
    shortened = shorten_status({"components": {"a": entry}}, among=100_000)["components"]["a"]
    assert {key: shortened[key] for key in ("name", "state", "wide")} == {
        "name": "n" * 63,
        "state": "succeeded",
        "wide": list(wide),
    }


@pytest.mark.parametrize("count", [1, 31, 60, 300])
def test_many_components_share_the_room(count: int) -> None:
    warnings = tuple(f"{number}: {'w' * 500}" for number in range(1000))
    whole = outcome(findings=5000, warnings=warnings, error="e" * 50_000)
    shortened = [
        shorten_status({"components": {str(n): whole}}, among=count)["components"] for n in range(count)
    ]
    assert sum(map(size, shortened)) < ROOM + count * 900


class Talks(Migration):
    """A migration that has much to say."""

    component = "c0"
    phase = Phase.PRE
    keep = "for tests"

    def check(self, ctx: Context) -> Verdict:
        done = ctx.cluster.get("v1", "ConfigMap", "done", "default")
        return not_needed("done") if done else needed("because " * 10_000)

    def run(self, ctx: Context) -> None:
        for number in range(5_000):
            ctx.log.warning(f"{number}: this object was in the way")
        meta = {"name": "done", "namespace": "default"}
        ctx.cluster.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta})


def test_the_record_of_a_run_of_60_components_with_thousands_of_findings(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        "ansible_collections.kyma.lifecycle.plugins.module_utils._components.component_work.new_findings",
        lambda _findings, _known: list(map(finding, range(FINDINGS))),
    )
    components: Entries = {f"c{number}": [config_map(f"c{number}", a="b")] for number in range(60)}
    someone = deployer(release("2.9", components), Talks)
    assert someone.deploy()["state"] == "succeeded"
    assert size(someone.record()) < HALF * 3 // 4
    entry = someone.record()["status"]["migrations"]["c0/talks"]
    assert entry["left_out"].endswith(" of 5000 are kept here, and all in the task's result")
    [worked] = [one for one in someone.results if one.get("migrations")][-1:]
    assert len(worked["migrations"][0]["warnings"]) == 5_000
    assert {len(one["drift"]) for one in worked["components"]} == {FINDINGS}
