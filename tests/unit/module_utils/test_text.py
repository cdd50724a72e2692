# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What migrations, clusters and programs say is one line of bounded length wherever it is shown."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.filter.migration_table import migration_table
from ansible_collections.kyma.lifecycle.plugins.module_utils._carrier.task import Task, TaskDefinition
from ansible_collections.kyma.lifecycle.plugins.module_utils._carrier.task_call import call_task_function
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Ref
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import api_error
from ansible_collections.kyma.lifecycle.plugins.module_utils._migrations.engine import (
    check_migrations,
    run_migrations,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.health.explanation import tidy
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.health.status import assess_health
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.ownership.findings import (
    DriftOutcome,
    Finding,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.ownership.other_tools import (
    other_manager,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._result_codec import to_result
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.lease.lease import lease_from
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.hold_records import hold_from
from ansible_collections.kyma.lifecycle.plugins.module_utils._text import (
    LONGEST_LINE,
    did_you_mean,
    first_of,
    one_line,
    short_list,
    suggestion,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils.migration import (
    Context,
    MigrationError,
    Verdict,
    blocked,
    needed,
    not_needed,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._release.helm import explain_helm_error
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.driver import FakeMaterials, deployer, release
from tests.support.driver import config_map as manifest
from tests.support.migrations import Observer, config_map, migration, setting

FORGED = (
    "first\n  unchanged 3 components\r\nKyma 2.10: nothing to do\x85\u2028\x1b[2J\x1b]0;title\x07\u202eend"
)
EVIL = {"forged": FORGED, "long": "x" * 2_000_000, "both": FORGED * 100_000}
ROOM = 500
"""Characters for what we say around a text of others."""


@pytest.fixture(params=EVIL, ids=str)
def evil(request: pytest.FixtureRequest) -> str:
    return EVIL[request.param]


def assert_fit(shown: object) -> None:
    text = str(shown)
    assert len(text.splitlines()) == 1, text[:300]
    assert text.isprintable(), text[:300]
    assert len(text) <= LONGEST_LINE + ROOM


@settings(deadline=None)
@given(st.text(), st.integers(40, 200))
def test_a_foreign_text_becomes_one_printable_line_of_bounded_length(text: str, longest: int) -> None:
    line = one_line(text * 20, longest)
    assert len(line.splitlines()) <= 1
    assert len(line) <= longest


def test_a_printable_line_is_unchanged() -> None:
    assert one_line("Größe: 3 → 5, as ConfigMap shop/a says") == "Größe: 3 → 5, as ConfigMap shop/a says"
    assert one_line("two\n  lines") == "two lines"
    assert one_line(None) == "None"


def test_a_text_that_is_cut_shows_its_length() -> None:
    assert one_line("x" * 100, 40) == "x" * 20 + "... (100 characters)"
    assert one_line("x" + " " * 500 + "y", 40).endswith("... (502 characters)")


SAYS: dict[str, Callable[[str], dict[str, Any]]] = {
    "needed": lambda text: {"check": lambda _ctx: needed(text)},
    "not needed": lambda text: {"check": lambda _ctx: not_needed(text)},
    "blocked": lambda text: {"check": lambda _ctx: blocked(text)},
    "an error": lambda text: {"check": raises(MigrationError(text))},
    "another error": lambda text: {"check": raises(ValueError(text))},
    "an error in run": lambda text: {"run": raises(MigrationError(text))},
    "no verdict": lambda text: {"check": lambda _ctx: text},
    "a strange state": lambda text: {"check": lambda _ctx: Verdict(text, text)},
    "strange evidence": lambda text: {"check": lambda _ctx: needed([text])},
    "a log": lambda text: {"run": lambda ctx: (ctx.log.info(text), ctx.log.warning(text))},
    "a cancellation": lambda text: {"run": lambda ctx: ctx.cancel(text)},
}


def raises(error: Exception) -> Callable[[Context], Any]:
    def fail(_ctx: Context) -> None:
        raise error

    return fail


def texts_in(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from (text for one in value.values() for text in texts_in(one))
    elif isinstance(value, (list, tuple)):
        yield from (text for one in value for text in texts_in(one))


@pytest.mark.parametrize("says", SAYS)
def test_texts_of_a_migration_are_printable_lines(says: str, evil: str) -> None:
    record = Observer()
    one = migration("evil", **SAYS[says](evil))
    outcomes: list[Any] = [
        *check_migrations([one], setting(observer=record)),
        *run_migrations([one], setting(observer=record)),
    ]
    shown = to_result(outcomes)
    for text in texts_in([shown, record.lines, record.reasons]):
        assert text == "" or not assert_fit(text)


def test_texts_of_a_migration_forge_no_line_of_a_plan(evil: str) -> None:
    def check(ctx: Context) -> Verdict:
        done = ctx.cluster.get("v1", "ConfigMap", "evil", "default")
        return not_needed(evil) if done else needed(evil)

    def run(ctx: Context) -> None:
        ctx.cluster.apply(config_map("evil"))

    someone = deployer(release("2.9", {"logging": [manifest("a")]}))
    for one in (
        migration("evil", check=check, run=run, irreversible=evil),
        migration("evil", check=lambda _ctx: blocked(evil)),
    ):
        someone.materials.classes = (one,)
        planned = someone.plan()
        lines = [*planned.get("summary", ()), *planned.get("msg", "").splitlines()]
        assert len(lines) > 1
        for line in lines:
            assert_fit(line)
        assert not any(line.startswith("Kyma 2.10") for line in lines)


def answered(text: str) -> Any:
    causes = [{"reason": text, "message": text, "field": text}]
    return api_error(
        "apply ConfigMap a/b", 422, {"message": text, "reason": "Invalid", "details": {"causes": causes}}
    )


def warned(text: str) -> Any:
    def connect(_params: Any, hear: Callable[[str, str], None]) -> Any:
        hear("apply ConfigMap a/b", text)

    def work(_task: Task) -> dict[str, Any]:
        return {}

    result = call_task_function(
        TaskDefinition(work, {}),
        {},
        materials=FakeMaterials(release("2.9", {})),
        progress=lambda *_arguments: None,
        cancelled=lambda: False,
        check_mode=False,
        diff=False,
        connect=connect,
    )
    [warning] = result["warnings"]
    return warning


def condition(text: str) -> Any:
    status = {
        "observedGeneration": 1,
        "conditions": [{"type": "Stalled", "status": "True", "message": text, "reason": text}],
    }
    obj = {
        "apiVersion": "a.b/v1",
        "kind": "Thing",
        "metadata": {"name": "a", "generation": 1},
        "status": status,
    }
    health = assess_health(obj)
    assert health.message
    assert_fit(health.reason)
    return health.message


def failed_pod(text: str) -> Any:
    status = {"phase": "Failed", "reason": text, "message": text}
    return assess_health(
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": {}, "status": status}
    ).message


def helm_annotation(text: str) -> Any:
    labels, annotations = {"app.kubernetes.io/managed-by": "Helm"}, {"meta.helm.sh/release-name": text}
    return other_manager({"metadata": {"labels": labels, "annotations": annotations}})


REF = Ref("", "ConfigMap", "a", "b")
PLACES: dict[str, Callable[[str], Any]] = {
    "an error of the server": answered,
    "a warning of the server": warned,
    "a condition": condition,
    "a pod": failed_pod,
    "an event": tidy,
    "a field manager": lambda text: Finding(REF, "data", text, "", DriftOutcome.RESTORED),
    "a field": lambda text: Finding(REF, text, "kubectl", "", DriftOutcome.RESTORED),
    "a field that nobody wrote": lambda text: Finding(REF, text, "", "", DriftOutcome.RESTORED),
    "an annotation": helm_annotation,
    "a name": lambda text: Ref("rbac.authorization.k8s.io", "Role", "a", text),
    "a hold": lambda text: hold_from({"metadata": {}, "spec": {"by": text[:400], "reason": text}}),
    "a lease": lambda text: lease_from({"metadata": {}, "spec": {"holderIdentity": text}}),
    "Helm": lambda text: explain_helm_error(f"Error: {text}", "charts/a")[3],
    "a table": lambda text: migration_table({"one": {"failed": True, "msg": text}})[1],
}


@pytest.mark.parametrize("place", PLACES)
def test_texts_of_others_are_printable_lines(place: str, evil: str) -> None:
    assert_fit(PLACES[place](evil))


@pytest.mark.parametrize(
    ("count", "expected"),
    [(0, ""), (1, "a"), (2, "a, b"), (3, "a, b and 1 more"), (4, "a, b and 2 more")],
)
def test_a_short_list_counts_the_values_that_it_leaves_out(count: int, expected: str) -> None:
    values = ["a", "b", "c", "d"][:count]
    assert short_list(values, 2) == expected
    shown = [*values[:2], *([f"and {count - 2} others"] if count > 2 else [])]
    assert first_of(values, 2, "others") == shown


def test_a_suggestion_names_what_is_written_similarly() -> None:
    known = ["logging", "login", "shop"]
    assert suggestion("loging", known) == "did you mean logging or login?"
    assert suggestion("loging", known, 1) == "did you mean logging?"
    assert (suggestion("tracing", known), did_you_mean([])) == ("", "")
