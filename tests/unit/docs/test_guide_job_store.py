# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The guide to the job store has all fields, states and roles. Its examples are valid, its stages tested."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
import yaml
from ansible_collections.kyma.lifecycle.plugins.module_utils._carrier.task import Result, TaskDefinition
from ansible_collections.kyma.lifecycle.plugins.module_utils._custom_resources.storage_version import (
    STORAGE_VERSION_LABEL,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.core_job import JobKey, JobType
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.defaults import (
    CURRENT_DEFAULTS,
    DEFAULTS,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.field_table import FIELDS
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.job_fields import core_job
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.job_validation import (
    is_field_of,
    job_problems,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.runtime.runtime_objects import (
    runtime_objects,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.storage.definition import (
    CURRENT_VERSION,
    DEFINITION_KINDS,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._store import pod_refusals
from ansible_collections.kyma.lifecycle.plugins.module_utils._store.changes.change_report import Action
from ansible_collections.kyma.lifecycle.plugins.module_utils._store.counters import store_metrics
from ansible_collections.kyma.lifecycle.plugins.module_utils._store.job_state import JobState
from ansible_collections.kyma.lifecycle.plugins.module_utils._store.store_kinds import (
    ROLES,
    STORE_KINDS,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._store.switches import (
    JOB_STORE,
    StoreSwitches,
    write_switches,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._tasks import (
    job_store,
    stored_job,
    stored_job_import,
    stored_job_info,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._carrier.arguments import validate
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.memory_cluster import (
    MemoryCluster,
)

from tests.cluster.paths import ROOT
from tests.support.job_store import create_runtime, ensure_namespace, job_of, store_cluster
from tests.support.task_call import call_task, to

DOCS = ROOT / "docs"
EXAMPLES = ROOT / "examples"
GUIDE = (DOCS / "guide_job_store.md").read_text()
JOBS: list[dict[str, Any]] = yaml.safe_load((EXAMPLES / "job_store" / "jobs.yaml").read_text())
TASKS: Mapping[str, TaskDefinition] = {
    f"kyma.lifecycle.{name}": module.DEFINITION
    for name, module in (
        ("job_store", job_store),
        ("stored_job", stored_job),
        ("stored_job_import", stored_job_import),
        ("stored_job_info", stored_job_info),
    )
}
DEPLOYMENT, MANAGER = ("apps/v1", "Deployment"), "kubectl-edit"


def rows(heading: str) -> list[list[str]]:
    """The rows of the table whose first column has a heading, without backquotes."""
    table = GUIDE.partition(f"\n| {heading} |")[2].partition("\n\n")[0]
    lines = [line for line in table.splitlines()[2:] if line.startswith("|")]
    return [[cell.strip().strip("`") for cell in line.strip("|").split("|")] for line in lines]


def blocks() -> Iterator[Any]:
    for block in re.findall(r"^```yaml\n(.*?)^```", GUIDE, re.MULTILINE | re.DOTALL):
        yield from yaml.safe_load(block)


def documented_tasks() -> list[tuple[str, dict[str, Any]]]:
    """Our tasks in the guide, by module, with their options. Templates are texts."""
    return [(name, entry[name] or {}) for entry in blocks() for name in TASKS if name in entry]


def documented_jobs() -> list[dict[str, Any]]:
    """The jobs of the guide and of the example, those in tasks included, as a file of jobs has them."""
    options = ("namespace", "state")
    jobs = [entry for entry in blocks() if "type" in entry]
    tasks = [one for name, one in documented_tasks() if name == "kyma.lifecycle.stored_job"]
    jobs += [
        {key: value for key, value in task.items() if key not in options}
        for task in tasks
        if task.get("state") != "restarted"
    ]
    return [*jobs, *JOBS]


@pytest.fixture(autouse=True)
def no_wait_for_pods(monkeypatch: pytest.MonkeyPatch) -> None:
    """No controller acts on this cluster."""
    monkeypatch.setattr(pod_refusals, "PODS_SECONDS", 0.0)


def call(cluster: MemoryCluster, task: str, /, *, check: bool = False, **options: Any) -> Result:
    return call_task(TASKS[f"kyma.lifecycle.{task}"], options, to(cluster), check=check)


def test_the_types_are_those_of_the_definitions() -> None:
    names = {
        one["spec"]["names"]["kind"]: one["spec"]["names"]["shortNames"][0] for one in STORE_KINDS.definitions
    }
    kinds = {str(type_): kind for type_, (_version, kind) in DEFINITION_KINDS.items()}
    assert [row[:3] for row in rows("type")[:3]] == [
        [type_, kind, names[kind]] for type_, kind in kinds.items()
    ]


def test_the_fields_have_their_types_and_defaults() -> None:
    defaults = DEFAULTS[CURRENT_DEFAULTS]
    documented = {name: (types, default) for name, types, default, _meaning in rows("field")}
    assert list(documented) == list(FIELDS)
    for name, (types, default) in documented.items():
        fitting = [str(one) for one in JobType if is_field_of(name, one)]
        assert types == ("all" if len(fitting) == len(JobType) else ", ".join(fitting)), name
        if default:
            assert yaml.safe_load(default) == defaults[name], name
        else:
            assert not defaults.get(name), name


def test_the_tables_have_all_states_actions_roles_and_counters() -> None:
    assert {row[0] for row in rows("state")} == {str(one) for one in JobState}
    assert {row[0] for row in rows("action")} == {str(one) for one in Action}
    assert {row[0] for row in rows("ClusterRole")} == {role["metadata"]["name"] for role in ROLES}
    metrics = set(re.findall(r"^# TYPE (\w+)", store_metrics({}), re.MULTILINE))
    assert {row[0] for row in rows("counter")} == metrics
    assert set(re.findall(r"\bjobs_only_in_\w+", GUIDE)) == metrics


def test_the_kinds_variables_and_playbooks_of_the_guide_exist() -> None:
    plurals = {one.plural for one in STORE_KINDS.kinds}
    assert set(re.findall(r"\b(?:[a-z]+jobs|jobstores|jobcounters)\b", GUIDE)) == plurals
    assert STORAGE_VERSION_LABEL in GUIDE
    assert "There are two:" in GUIDE
    assert CURRENT_VERSION == 2
    specs = yaml.safe_load((ROOT / "roles" / "kyma_job_store" / "meta" / "argument_specs.yml").read_text())
    known = set(specs["argument_specs"]["main"]["options"]) | {"kyma_jobs_file"}
    variables = set(re.findall(r"\bkyma_\w+", GUIDE)) - {"kyma_jobs", "kyma_job_store"}
    assert variables <= known
    for playbook in re.findall(r"kyma\.lifecycle\.(\w+_(?:jobs|job_store))\b", GUIDE):
        assert (ROOT / "playbooks" / f"{playbook}.yml").exists(), playbook


def test_links_of_the_guide_have_targets() -> None:
    for place, anchor in re.findall(r"\]\((?!https:)([\w./]*)(?:#([\w-]+))?\)", GUIDE):
        path = (DOCS / place).resolve() if place else DOCS / "guide_job_store.md"
        assert path.exists(), place
        if anchor:
            headings = [
                line.lstrip("# ").lower() for line in path.read_text().splitlines() if line[:1] == "#"
            ]
            assert anchor in [re.sub(r"[^\w -]", "", one).replace(" ", "-") for one in headings], anchor


def test_options_of_the_tasks_of_the_guide_exist() -> None:
    tasks = documented_tasks()
    assert {name for name, _options in tasks} >= TASKS.keys() - {"kyma.lifecycle.stored_job_import"}
    for name, options in tasks:
        assert not validate(TASKS[name], options, name).problem


def test_jobs_of_the_guide_are_valid_and_can_be_built() -> None:
    jobs = documented_jobs()
    assert len(jobs) > 5
    for job in jobs:
        fields = {name: value for name, value in job.items() if name not in ("name", "type")}
        assert job_problems(job["name"], job["type"], fields) == []
        objects = runtime_objects(core_job(JobKey("shop", job["name"]), JobType(job["type"]), fields))
        for obj in objects:
            spec = obj["spec"]
            pods = spec.get("jobTemplate", {}).get("spec", spec).get("template")
            assert pods is None or [one["name"] for one in pods["spec"]["containers"]] == ["job"]


def test_the_example_plays_the_role_with_its_variables() -> None:
    [play] = yaml.safe_load((EXAMPLES / "job_store.yml").read_text())
    role = play["tasks"][0]
    assert role["ansible.builtin.import_role"] == {"name": "kyma.lifecycle.kyma_job_store"}
    specs = yaml.safe_load((ROOT / "roles" / "kyma_job_store" / "meta" / "argument_specs.yml").read_text())
    assert role["vars"].keys() <= specs["argument_specs"]["main"]["options"].keys()
    assert {one["type"] for one in JOBS} == {str(one) for one in JobType}


@pytest.fixture
def cluster() -> MemoryCluster:
    """A cluster with the jobs of the example, one of them changed and one deleted by hand, and one more."""
    cluster = store_cluster()
    ensure_namespace(cluster, "shop")
    call(cluster, "stored_job", namespace="shop", jobs=JOBS)
    spec = {"spec": {"replicas": 3}}
    cluster.with_field_manager(MANAGER).patch(*DEPLOYMENT, "web", "shop", spec)
    cluster.delete("batch/v1", "CronJob", "backup", "shop")
    create_runtime(cluster, job_of("by-hand"))
    return cluster


def set_stage(cluster: MemoryCluster, stage: str) -> StoreSwitches:
    [(source, unknown)] = [(row[1], row[2]) for row in rows("stage") if row[0] == stage]
    switches = JOB_STORE.read({"spec": {"sourceOfTruth": source, "unknownJobs": unknown}})
    assert (switches.source_of_truth, switches.unknown_jobs) == (source, unknown)
    write_switches(cluster, switches)
    return switches


def listed(cluster: MemoryCluster, **options: Any) -> dict[str, Any]:
    return {one["name"]: one for one in call(cluster, "stored_job_info", **options)["jobs"]}


def test_the_lines_of_the_quick_start() -> None:
    cluster = store_cluster()
    ensure_namespace(cluster, "shop")
    lines = call(cluster, "stored_job", namespace="shop", jobs=JOBS)["lines"]
    assert "\n".join(["```text", *lines, "```"]) in GUIDE
    again = call(cluster, "stored_job", namespace="shop", jobs=JOBS)
    assert not again["changed"]
    assert all(line.endswith(": up to date") for line in again["lines"])


@pytest.mark.parametrize("stage", ["1", "2", "3"])
def test_jobs_changed_by_hand_are_listed_as_the_tables_say(cluster: MemoryCluster, stage: str) -> None:
    set_stage(cluster, stage)
    jobs = listed(cluster)
    assert jobs["web"]["drift"]
    assert jobs["web"]["fields"].get("replicas") == (3 if stage == "1" else None)
    assert jobs["backup"]["state"] == "missing"
    assert ("by-hand" in jobs) == (stage != "3")
    if stage != "3":
        assert jobs["by-hand"]["adoptable"]
    done = call(cluster, "stored_job", namespace="shop", jobs=JOBS)
    assert [line for line in done["lines"] if not line.endswith("up to date")] == [
        "shop/backup: updated: CronJob shop/backup created",
        "shop/web: updated: Deployment shop/web updated",
    ]
    [counter] = done["counters"]
    assert counter == {"namespace": "shop", "only_in_kubernetes": 1, "only_in_storage": 1}
    assert call(cluster, "stored_job_import")["imported"] == ["shop/by-hand"]
    assert listed(cluster).keys() == {"backup", "by-hand", "migrate", "web"}


def test_a_dump_of_stage_1_adopts_a_change_by_hand(cluster: MemoryCluster) -> None:
    dump = call(cluster, "stored_job_info", dump=True, namespaces=["shop"])["dump"]
    call(cluster, "stored_job", namespace="shop", jobs=[one for one in dump if one["name"] == "web"])
    web = listed(cluster)["web"]
    assert (web["drift"], web["fields"]["replicas"]) == ([], 3)
    deployment = cluster.get(*DEPLOYMENT, "web", "shop")
    assert deployment
    assert deployment["spec"]["replicas"] == 3


def test_a_flip_is_refused_until_the_drift_is_decided(cluster: MemoryCluster) -> None:
    refused = call(cluster, "job_store", source_of_truth="storage", check=True)
    assert refused["failed"]
    [line] = refused["differences"]
    drift = line.partition(" has drifted: ")[2].partition(" at ")[0]
    assert drift.endswith(f"({MANAGER}")
    assert drift in GUIDE
    assert call(cluster, "job_store", unknown_jobs="ignore")["failed"]
    call(cluster, "stored_job", namespace="shop", jobs=JOBS)
    before = listed(cluster)
    assert call(cluster, "job_store", source_of_truth="storage")["changed"]
    assert listed(cluster) == before
    call(cluster, "stored_job_import")
    assert call(cluster, "job_store", unknown_jobs="ignore")["changed"]


def test_a_hidden_job_is_not_protected(cluster: MemoryCluster) -> None:
    set_stage(cluster, "3")
    for state in ("restarted", "suspended"):
        refused = call(cluster, "stored_job", name="by-hand", namespace="shop", state=state)
        assert "There is no job" in refused["lines"][0]
    other = {"name": "by-hand", "type": "one-off", "image": "busybox:1"}
    assert call(cluster, "stored_job", namespace="shop", jobs=[other])["failed"]
    pruned = call(cluster, "stored_job", namespace="shop", jobs=JOBS, prune=True)
    assert pruned["warnings"] == ["shop/by-hand is not pruned, as it has no definition"]
    same = {"name": "by-hand", "type": "continuous", "image": "nginx:2"}
    assert "created" in call(cluster, "stored_job", namespace="shop", jobs=[same], check=True)["lines"][0]
    call(cluster, "stored_job", name="by-hand", namespace="shop", state="absent")
    assert cluster.get(*DEPLOYMENT, "by-hand", "shop") is None


def test_a_job_of_another_type_with_the_name_of_a_stored_one(cluster: MemoryCluster) -> None:
    create_runtime(cluster, job_of("web", JobType.ONE_OFF))
    messages = [one["message"] for one in call(cluster, "stored_job_info")["jobs"] if one["name"] == "web"]
    assert len(messages) == 2
    assert any("Its name is taken" in one for one in messages)
    assert "Its name is taken" in GUIDE
    assert "Its name is taken" in call(cluster, "stored_job_import")["unreadable"][0]
    differences = call(cluster, "job_store", source_of_truth="storage")["differences"]
    assert any("Its name is taken" in one for one in differences)


def test_a_missing_job_is_built_from_its_definition_alone(cluster: MemoryCluster) -> None:
    done = call(cluster, "stored_job", name="backup", namespace="shop", state="restarted")
    assert done["jobs"][0]["action"] == "restarted"
    assert cluster.get("batch/v1", "CronJob", "backup", "shop")
    assert not listed(cluster)["backup"]["drift"]
