# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every proof of the kit catches what nobody else catches, and says it to a person."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object
from ansible_collections.kyma.lifecycle.plugins.module_utils.migration import (
    Context,
    Migration,
    Phase,
    Verdict,
    needed,
    not_needed,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils import migration_testing
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.case import (
    Case,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.proofs import PROOFS
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.recorded_cluster import Fault
from ansible_collections.kyma.lifecycle.plugins.plugin_utils.migration_testing import (
    Disproved,
    assert_migration,
)

from tests.support.extent import IS_FULL
from tests.unit.plugin_utils._migration_testing import badly_written as bad
from tests.unit.plugin_utils._migration_testing.badly_written import AFTER, BEFORE, config_map, secret

CHANGED = [config_map(color="red", changes="1"), secret(token=bad.TOKEN)]

LABELLED = [{**one, "metadata": {**one["metadata"], "labels": {"team": "a"}}} for one in AFTER[:1]] + AFTER[
    1:
]

LOSES_UPDATES = "it loses no update of others"
"""What also catches those that write the object of a name anew, or what they have read before."""

CAUGHT: list[tuple[type[Migration], str, list[Object], str]] = [
    (bad.SaysTooLittle, "its class is complete", AFTER, "it has neither remove_in (the release that"),
    (
        bad.WritesInCheck,
        "check only reads",
        AFTER,
        "on `before`, check made call 1 (apply ConfigMap shop/i-was-here): a check only reads",
    ),
    (
        bad.LeavesTheTokenThere,
        "run leads to `after`",
        AFTER,
        "ConfigMap shop/settings: data.old is 'correct horse', and `after` has none",
    ),
    (
        bad.AsksTooMuch,
        "check is cheap",
        AFTER,
        "on `before`, check made 4 requests, and 3 are allowed (get ConfigMap shop/a, get ConfigMap shop/b,",
    ),
    (
        bad.SaysSomethingElseEachTime,
        "check returns the same twice",
        AFTER,
        "asked twice of the same cluster, check said needed ('ConfigMap shop/settings has the token in",
    ),
    (
        bad.ChangesWhatItReads,
        "check changes nothing that it reads",
        AFTER,
        "on `before`, check changes the answer to get ConfigMap shop/settings: other checks share it",
    ),
    (
        bad.DecidesByRelease,
        "it decides without ctx.release",
        AFTER,
        "on `before`, check said needed ('ConfigMap shop/settings has the token'), and for release 0.0.1 "
        "not_needed ('the release is too new'): it decides by ctx.release.",
    ),
    (
        bad.NeedsLabels,
        "it works on objects without annotations and labels",
        LABELLED,
        "on `before` without labels, its check failed: KeyError: 'labels'",
    ),
    (
        bad.ReadsAFile,
        "check uses the cluster alone",
        AFTER,
        "on `before`, check uses a file (/etc/hostname): it decides from the cluster alone",
    ),
    (
        bad.NeedsWhatIsNotThereYet,
        "check works on an empty cluster",
        AFTER,
        "on an empty cluster, its check failed: TypeError: 'NoneType' object is not subscriptable",
    ),
    (
        bad.RecreatesTheConfigMap,
        "objects in `stays` are never replaced",
        AFTER,
        "ConfigMap shop/settings has to stay, and is another object of the same name; it made these "
        "deletions: delete ConfigMap shop/settings, delete ConfigMap shop/kept",
    ),
    (
        bad.NeverSaysDone,
        "check returns not_needed after run",
        AFTER,
        "after run, check has to say not_needed, and said needed ('one never knows')",
    ),
    (
        bad.RunsTwiceForMore,
        "a second run changes nothing",
        AFTER,
        "ConfigMap shop/settings: data.color is 'red!', and the first run has 'red'",
    ),
    (
        bad.ForgetsBeforeItKnows,
        "killed and run again, it succeeds",
        AFTER,
        "killed after call 3 (patch ConfigMap shop/settings): run again, it does not reach the required"
        " state (its check said not_needed ('ConfigMap shop/settings has no token')):\n"
        "    - Secret shop/token is not there, and an undisturbed run has it",
    ),
    (
        bad.SwallowsErrors,
        "after an error and run again, it succeeds",
        AFTER,
        "with an error instead of the effect of call 3 (apply Secret shop/token): it "
        "reported no error, and the cluster is not in the required state:\n"
        "    - Secret shop/token is not there, and an undisturbed run has it",
    ),
    (
        bad.RepeatsWhatMayHaveHappened,
        "after an error and run again, it succeeds",
        CHANGED,
        "ConfigMap shop/settings: data.changes is '2', and an undisturbed run has '1'",
    ),
    (
        bad.LosesUpdates,
        LOSES_UPDATES,
        AFTER,
        "another client changes data.token of ConfigMap shop/settings before call 3 (apply Secret "
        "shop/token), and that is lost. Give metadata.resourceVersion",
    ),
    (
        bad.DeletesByName,
        "it deletes only what it has read",
        AFTER,
        "(delete ConfigMap shop/rubbish) has no uid, so it also deletes an object of this name",
    ),
    (
        bad.TidiesUp,
        "it changes no other objects",
        AFTER,
        "ConfigMap shop/another-client-0-settings is gone, and neither `before` nor `after` names it",
    ),
    (
        bad.LogsTheToken,
        "it shows no values of Secrets",
        AFTER,
        "the value of data.token of Secret shop/token is in its log or errors: name the Secret and its key",
    ),
    (
        bad.ChangesTheVariables,
        "it does not change the release",
        AFTER,
        "it changes ctx.variables, which says",
    ),
    (
        bad.Remembers,
        "it keeps no state in the process",
        AFTER,
        "it keeps something in Remembers._seen: a process that",
    ),
    (
        bad.CannotBeRehearsed,
        "it can be rehearsed",
        AFTER,
        "its rehearsal does not show what its run changes:\n    - ConfigMap shop/settings: data.token is",
    ),
    (
        bad.HasNoPatience,
        "it waits for deletions to end",
        [secret(token=bad.TOKEN)],
        "a real API server takes a while to delete ConfigMap shop/settings, which has a deletionTimestamp "
        "meanwhile; then check said needed ('ConfigMap shop/settings has the token') after run.",
    ),
    (
        bad.AppliesWhatIsBeingDeleted,
        "it waits for deletions to end",
        AFTER,
        "which has a deletionTimestamp meanwhile; then run wrote to it, and at the end ConfigMap "
        "shop/settings is not there, and an undisturbed run has it. Let check",
    ),
    (
        bad.TakesMoreWithIt,
        "it can be undone",
        AFTER,
        "undone, the cluster is not as `before` says. Let `irreversible` say what can't be undone and why "
        "(`irreversible_kinds`, of which kinds), or let `undo` do what the journal can't:\n"
        "    - ConfigMap shop/page is not there, and `before` has it",
    ),
]


def case_of(migration: type[Migration], after: list[Object], **more: Any) -> Case:
    return Case(migration, before_of(migration), after, release="1", seconds=5.0, **more)


def stays_of(migration: type[Migration]) -> list[Object]:
    return [] if migration in (bad.HasNoPatience, bad.AppliesWhatIsBeingDeleted) else BEFORE


def before_of(migration: type[Migration]) -> list[Object]:
    if migration is bad.NeedsLabels:
        return [labelled(obj) for obj in BEFORE]
    return [*BEFORE, *bad.cache()] if migration is bad.TakesMoreWithIt else BEFORE


def labelled(obj: Object) -> Object:
    return {**obj, "metadata": {**obj["metadata"], "labels": {"team": "a"}}}


@pytest.fixture(autouse=True)
def forgotten() -> None:
    bad.Remembers._seen.clear()


@pytest.mark.parametrize(
    ("migration", "name", "after", "said"), CAUGHT, ids=[one[0].__name__ for one in CAUGHT]
)
def test_one_proof_alone_finds_a_badly_written_migration(
    migration: type[Migration], name: str, after: list[Object], said: str
) -> None:
    failing = {}
    for proof in PROOFS:
        bad.Remembers._seen.clear()
        if problems := list(proof.problems(case_of(migration, after, stays=stays_of(migration)))):
            failing[proof.name] = "\n".join(problems)
    assert failing.keys() - {LOSES_UPDATES} | {name} == {name}, failing
    assert name in failing
    assert said in failing[name]


def test_each_proof_has_one_that_it_catches() -> None:
    assert {name for _migration, name, _after, _said in CAUGHT} == {proof.name for proof in PROOFS}


@pytest.mark.parametrize(
    ("migration", "name", "after", "said"), CAUGHT, ids=[one[0].__name__ for one in CAUGHT]
)
def test_an_author_hears_of_it(
    migration: type[Migration],
    name: str,
    after: list[Object],
    said: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if not IS_FULL:
        monkeypatch.setattr(migration_testing, "PROOFS", [proof for proof in PROOFS if proof.name == name])
    with pytest.raises(Disproved) as caught:
        assert_migration(migration, before_of(migration), after, stays=stays_of(migration))
    assert str(caught.value).startswith("migration shop/move-token fails these proofs:\n  - ")
    assert f"  - {name}: " in str(caught.value)
    assert said in str(caught.value)


def test_a_good_one_stands_them_all() -> None:
    assert_migration(bad.MoveToken, BEFORE, AFTER, stays=BEFORE)


def test_a_case_in_one_value_is_proved_as_its_arguments_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(migration_testing, "PROOFS", PROOFS[:3])
    assert_migration(Case(bad.MoveToken, BEFORE, AFTER, stays=BEFORE))
    with pytest.raises(Disproved, match="it did not end within 0"):
        assert_migration(Case(bad.Hangs, BEFORE, AFTER, seconds=0.2))
    with pytest.raises(TypeError, match="second"):
        assert_migration(bad.MoveToken, BEFORE, AFTER, second=1)


def test_no_value_of_a_secret_is_reported() -> None:
    with pytest.raises(Disproved) as caught:
        assert_migration(bad.MoveToken, BEFORE, [config_map(color="red"), secret(token="another")])
    assert "Secret shop/token: data.token differs from `after`" in str(caught.value)
    assert "another" not in str(caught.value)
    assert secret(token=bad.TOKEN)["data"]["token"] not in str(caught.value)


def test_an_endless_wait_in_memory_is_reported_at_once() -> None:
    with pytest.raises(Disproved, match="it slept for longer than its timeout of 20 s") as caught:
        assert_migration(bad.Oversleeps, BEFORE, AFTER)
    assert "(21 more proofs wait for this one)" in str(caught.value)


def test_a_migration_that_hangs_is_given_up() -> None:
    with pytest.raises(Disproved, match=r"it hangs: it did not end within 2 s, and was given up") as caught:
        assert_migration(bad.Hangs, BEFORE, AFTER, seconds=2)
    assert "its last request was call 1 (get ConfigMap shop/settings)" in str(caught.value)


class DeclaresThatItTakesMoreWithIt(bad.TakesMoreWithIt):
    """The token is in a Secret, and the cache is gone."""

    irreversible = "Pages of the cache are not kept."
    irreversible_kinds = ("ConfigMap",)


class RecreatesThePages(bad.TakesMoreWithIt):
    """The token is in a Secret, and the cache is gone."""

    def undo(self, ctx: Context) -> None:
        page = bad.cache()[1]
        del page["metadata"]["ownerReferences"]
        ctx.cluster.apply(page)


def test_objects_that_are_declared_irreversible_need_not_come_back() -> None:
    assert_migration(DeclaresThatItTakesMoreWithIt, [*BEFORE, *bad.cache()], AFTER)


def test_a_migration_may_undo_itself_what_no_journal_can_undo() -> None:
    assert_migration(RecreatesThePages, [*BEFORE, *bad.cache()], AFTER, ignore=["metadata.ownerReferences"])


def test_faults_fall_on_every_call_before_and_after_its_effect(monkeypatch: pytest.MonkeyPatch) -> None:
    """The undisturbed migration makes five calls; at the sixth, where there is none, the search ends."""
    struck: list[tuple[Fault, int, bool]] = []
    attempt = Case.attempt

    def watched(case: Case, cluster: Any, **how: Any) -> Any:
        done = attempt(case, cluster, **how)
        if how.get("fault"):
            struck.append((how["fault"], how["fault_at"], done.recording.hit))
        return done

    monkeypatch.setattr(Case, "attempt", watched)
    assert_migration(bad.MoveToken, BEFORE, AFTER)
    hits = [(fault, number) for fault, number, hit in struck if hit]
    assert sorted(hits) == sorted((fault, number) for fault in Fault for number in range(1, 6))


class MakesSettings(Migration):
    """Settings are there."""

    component = "shop"
    phase = Phase.PRE
    keep = "for tests"

    def check(self, ctx: Context) -> Verdict:
        live = ctx.cluster.get("v1", "ConfigMap", "settings", "shop")
        return not_needed("they are there") if live else needed("there are none")

    def run(self, ctx: Context) -> None:
        ctx.cluster.apply(config_map("settings", color="red"))


def test_a_migration_that_creates_the_first_object_has_its_namespace() -> None:
    assert_migration(MakesSettings, [], [config_map("settings", color="red")])
