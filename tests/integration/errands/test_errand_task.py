# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The task ``errand`` on a real API server: declared, run, refused, deleted."""

from __future__ import annotations

import pytest
import yaml
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.errand_model import RUN_REQUEST

from tests.support.eventually import eventually

from .conftest import ERRAND, NEVER_SCHEDULED, Author, job_template

pytestmark = pytest.mark.cluster

DEADLINE = {"activeDeadlineSeconds": 1}


def test_an_errand_is_created_once_and_runs_on_request(author: Author) -> None:
    created = author.errand(name="backup", template=job_template()).succeeded()
    assert created.writes == ["apply Errand backup"]
    assert (created.result["changed"], created.result["run"]) == (True, 0)
    assert author.read("backup")["spec"]["trigger"]["strategy"] == "manual"

    repeated = author.errand(name="backup", template=job_template()).unchanged()
    assert repeated.result["durations"] == []

    ran = author.errand(name="backup", template=job_template(), trigger="now").succeeded()
    assert ran.result["changed"]
    assert (ran.result["run"], ran.result["outcome"]) == (1, "Completed")
    assert ran.result["seconds"] is not None
    (row,) = ran.result["durations"]
    assert (row["kind"], row["name"], row["state"]) == ("errand", f"{author.namespace}/backup", "succeeded")
    assert row["seconds"] == ran.result["seconds"]
    assert row["started_at"] <= row["finished_at"]
    assert "lifecycle.kyma-project.io/run=1" in ran.result["log_command"]
    assert ran.progress[-1] == f"Errand {author.namespace}/backup: succeeded run 1"
    assert author.read("backup")["spec"]["trigger"]["strategy"] == "manual"

    again = author.errand(name="backup", template=job_template(), trigger="now").succeeded()
    assert (again.result["run"], again.result["outcome"]) == (2, "Completed")
    # What is left of the runs hinders no later declaration.
    author.errand(name="backup", template=job_template()).unchanged()


def test_an_errand_of_others_is_run_and_nothing_of_it_changed(author: Author) -> None:
    missing = author.errand(name="backup", trigger="now")
    assert "it does not exist. Declare it by template or definition" in missing.message
    author.errand(name="backup", template=job_template(), field_manager="theirs").succeeded()
    spec = author.read("backup")["spec"]

    rehearsed = author.errand(check=True, name="backup", trigger="now").succeeded()
    assert (rehearsed.result["changed"], rehearsed.writes, rehearsed.result["diff"]) == (True, [], [])
    ran = author.errand(name="backup", trigger="now").succeeded()
    assert (ran.result["run"], ran.result["outcome"]) == (1, "Completed")
    assert "apply Errand backup" not in ran.writes
    assert author.read("backup")["spec"] == spec
    managers = {one["manager"] for one in author.read("backup")["metadata"]["managedFields"]}
    author.errand(name="backup", template=job_template(), field_manager="theirs").unchanged()
    assert "theirs" in managers


def test_once_runs_once_for_each_template(author: Author) -> None:
    first = author.errand(name="setup", template=job_template("one"), trigger="once").succeeded()
    assert (first.result["run"], first.result["outcome"]) == (1, "Completed")
    assert first.result["errand"]["trigger"] == "done"

    second = author.errand(name="setup", template=job_template("one"), trigger="once").unchanged()
    assert (second.result["run"], second.result["outcome"]) == (1, "Completed")

    changed = author.errand(name="setup", template=job_template("two"), trigger="once").succeeded()
    assert (changed.result["run"], changed.result["outcome"]) == (2, "Completed")


def test_check_mode_validates_and_writes_nothing(author: Author) -> None:
    rehearsed = author.errand(check=True, name="backup", template=job_template(), trigger="now").succeeded()
    assert (rehearsed.result["changed"], rehearsed.writes) == (True, [])
    assert "kind: Errand" in rehearsed.result["diff"][0]["after"]
    assert author.api.get(*ERRAND, "backup", author.namespace) is None

    author.errand(name="backup", template=job_template()).succeeded()
    same = author.errand(check=True, name="backup", template=job_template()).unchanged()
    assert same.result["diff"] == []
    changed = author.errand(check=True, name="backup", template=job_template("other")).succeeded()
    assert (changed.result["changed"], changed.writes) == (True, [])
    assert "- other" in changed.result["diff"][0]["after"]
    assert "- other" not in changed.result["diff"][0]["before"]


def test_in_check_mode_a_namespace_may_be_missing_as_an_earlier_task_would_create_it(author: Author) -> None:
    options = {"namespace": "not-there-yet", "name": "backup", "template": job_template()}
    rehearsed = author.errand(check=True, **options).succeeded()
    assert rehearsed.result["changed"]
    assert "namespace not-there-yet does not exist" in rehearsed.warnings
    refused = author.errand(**options)
    assert "namespace not-there-yet does not exist. Create it first" in refused.message
    assert refused.writes == []


def test_all_problems_are_refused_at_once_and_nothing_is_written(author: Author) -> None:
    template = job_template(job=DEADLINE, dnsPolicy="Sometimes", volumes=[{"name": "kyma-output-x"}])
    refused = author.errand(
        name="backup",
        template=template,
        output={"outputMap": {"other": {"a.json": {"name": "NotAName"}}}},
        trigger="now",
    )
    message = refused.message
    assert message.startswith(f"Errand {author.namespace}/backup is refused, and nothing was written:\n- ")
    for part in ("kyma-output-", "names container other", "'NotAName' is no valid name"):
        assert part in message
    assert refused.writes == []

    # What only the API server knows is asked for once the rest is right.
    by_server = author.errand(name="backup", template=job_template(job=DEADLINE, dnsPolicy="Sometimes"))
    assert "dnsPolicy" in by_server.message
    assert by_server.writes == []


def test_unknown_fields_of_an_errand_are_named(author: Author) -> None:
    spec = {"trigger": {"strategie": "once"}, "template": job_template(), "updateOnConfigchange": True}
    definition = {"apiVersion": ERRAND[0], "kind": ERRAND[1], "metadata": {"name": "a"}, "spec": spec}
    message = author.errand(definition=definition).message
    assert "spec.trigger.strategie is no field of Errand; did you mean strategy?" in message
    assert "spec.updateOnConfigchange is no field of Errand; did you mean updateOnConfigChange?" in message
    assert "spec.trigger.strategy: Required value" in message


def test_two_authors_conflict_visibly(author: Author) -> None:
    author.errand(name="backup", template=job_template("mine")).succeeded()
    theirs = {"name": "backup", "template": job_template("theirs"), "field_manager": "theirs"}
    refused = author.errand(**theirs)
    assert 'conflict with "kyma-lifecycle/errand"' in refused.message
    assert "force_conflicts: true" in refused.message
    assert refused.writes == []
    author.errand(force_conflicts=True, **theirs).succeeded()
    assert "theirs" in yaml.safe_dump(author.read("backup")["spec"])
    # Now the first one is told.
    assert 'conflict with "theirs"' in author.errand(name="backup", template=job_template("mine")).message


def test_a_run_that_fails_fails_the_task_with_its_reason_and_the_way_to_its_log(author: Author) -> None:
    template = job_template(job=DEADLINE, **NEVER_SCHEDULED)
    failed = author.errand(name="late", template=template, trigger="now")
    assert f"Errand {author.namespace}/late: run 1 failed: DeadlineExceeded" in failed.message
    assert f"kubectl logs --namespace {author.namespace} --selector" in failed.message
    assert (failed.result["changed"], failed.result["run"], failed.result["outcome"]) == (
        True,
        1,
        "DeadlineExceeded",
    )
    assert [row["state"] for row in failed.result["durations"]] == ["failed"]


def test_once_that_has_failed_fails_each_later_task_until_a_person_acts(author: Author) -> None:
    template = job_template(job=DEADLINE, **NEVER_SCHEDULED)
    assert author.errand(name="late", template=template, trigger="once").message
    again = author.errand(name="late", template=template, trigger="once")
    assert "It does not run again by itself" in again.message
    assert (again.result["changed"], again.result["run"], again.writes) == (False, 1, [])
    author.errand(name="late", template=template, trigger="once", wait=False).unchanged()


def test_waiting_ends_with_the_time_and_says_where_the_run_is(author: Author) -> None:
    template = job_template(**NEVER_SCHEDULED)
    late = author.errand(name="stuck", template=template, trigger="now", timeout=1)
    assert "run 1 did not end within 1 s (phase Running" in late.message
    assert "The run continues in the cluster" in late.message
    assert (late.result["run"], late.result["errand"]["phase"]) == (1, "Running")

    # Another request does not disturb it, and waits for the next run.
    queued = author.errand(name="stuck", template=template, trigger="now", timeout=1)
    assert queued.result["run"] == 2
    assert "run 2 did not end within 1 s" in queued.message
    assert "The errand stays, and runs at the next reconciliation" in queued.message


def test_a_missing_reference_is_waited_for_and_named(author: Author) -> None:
    env = [{"name": "A", "valueFrom": {"configMapKeyRef": {"name": "settings", "key": "a"}}}]
    template = job_template()
    template["spec"]["template"]["spec"]["containers"][0]["env"] = env
    waiting = author.errand(name="needy", template=template, trigger="now", timeout=1)
    assert f"waiting for ConfigMap {author.namespace}/settings" in waiting.message
    assert any(f"waiting for ConfigMap {author.namespace}/settings" in line for line in waiting.progress)
    author.api.create(
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": "settings", "namespace": author.namespace},
            "data": {"a": "1"},
        }
    )
    done = author.errand(name="needy", template=template, trigger="now").succeeded()
    # It answers both requests.
    assert (done.result["run"], done.result["outcome"]) == (1, "Completed")


def test_a_cancelled_task_returns_the_state(author: Author) -> None:
    template = job_template(**NEVER_SCHEDULED)
    cancelled = author.errand(name="stuck", template=template, trigger="now", is_cancelled=True)
    assert "waiting was cancelled. The run continues in the cluster" in cancelled.message


def test_without_reconciling_it_only_asks_and_an_engine_runs_it(author: Author) -> None:
    options = {"name": "backup", "template": job_template(), "trigger": "now", "reconcile": False}
    requested = author.errand(**options, wait=False).succeeded()
    assert (requested.result["run"], requested.result["outcome"]) == (1, "")
    assert requested.writes == ["apply Errand backup", "patch Errand backup"]
    assert author.read("backup")["metadata"]["annotations"][RUN_REQUEST]

    unanswered = author.errand(**options, timeout=1)
    assert "no engine has started it. Check that an engine runs, or set reconcile: true" in unanswered.message
    eventually(lambda: not author.reconcile().succeeded().result["changed"])
    assert author.info()["backup"]["run"]["state"] == "succeeded"


def test_without_waiting_the_run_is_started(author: Author) -> None:
    template = job_template(**NEVER_SCHEDULED)
    started = author.errand(name="backup", template=template, trigger="now", wait=False).succeeded()
    assert started.result["run"] == 1
    assert started.result["errand"]["phase"] == "Running"
    assert "create Job backup-1" in started.writes


def test_deleting_it_deletes_it_and_nothing_twice(author: Author) -> None:
    author.errand(name="backup", template=job_template()).succeeded()
    rehearsed = author.errand(check=True, name="backup", state="absent").succeeded()
    assert (rehearsed.result["changed"], rehearsed.writes) == (True, [])
    assert "(deleted)" in rehearsed.result["diff"][0]["after_header"]
    gone = author.errand(name="backup", state="absent").succeeded()
    assert (gone.result["changed"], gone.writes) == (True, ["delete Errand backup"])
    author.errand(name="backup", state="absent").unchanged()
