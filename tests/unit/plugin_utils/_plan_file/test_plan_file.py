# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Plans in files."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._migrations.migration_folders import (
    MigrationFolder,
    pack_migrations,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._tasks.plan import DEFINITION
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._plan_file.plan_file import (
    PLAN_OPTIONS,
    RUN_OPTIONS,
    BadPlan,
    archive_code_digest,
    given_options,
    names_of,
    option_mismatches,
    options_from_plan,
    read_plan,
    version_of_hop,
    write_plan,
)

from tests.cluster.paths import ROOT

PARAMS: dict[str, Any] = {
    **{name: option.get("default") for name, option in DEFINITION.argument_spec.items()},
    "release": "/releases/2.9",
    "overrides": ["logging.password=secret-word"],
    "migration_variables": {"colour": "secret-word"},
    "strict_drift": True,
}
REQUESTED = given_options(PARAMS, DEFINITION.argument_spec)
RESULT: dict[str, Any] = {
    "plan": {"version": "2.9", "noted": {"logging": []}, "later": [{"version": "2.10"}]},
    "summary": ["Kyma 2.9:"],
    "plan_inputs": {"records": "/"},
}


def test_a_stored_plan_is_read_unchanged_by_its_owner_only(tmp_path: Path) -> None:
    file = tmp_path / "plan.json"
    digest = write_plan(file, REQUESTED, RESULT)
    assert file.stat().st_mode & 0o777 == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["plan.json"]
    stored = read_plan(file, digest)
    assert stored["digest"] == digest
    assert stored["asked"] == {"release": "/releases/2.9", "strict_drift": True}
    assert stored["plan"] == {"version": "2.9", "later": [{"version": "2.10"}]}
    assert stored["plan_inputs"] == RESULT["plan_inputs"]
    assert "secret-word" not in file.read_text()
    assert read_plan(file, "") == read_plan(file, digest.removeprefix("sha256:"))


def test_a_plan_that_was_edited_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "plan.json"
    write_plan(file, REQUESTED, RESULT)
    file.write_text(json.dumps({**json.loads(file.read_text()), "plan_inputs": {}}))
    with pytest.raises(BadPlan, match="was changed since it was written"):
        read_plan(file, "")


def test_a_plan_that_a_newer_version_has_stored_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "plan.json"
    write_plan(file, REQUESTED, RESULT)
    newer = {**json.loads(file.read_text()), "storageVersion": 2}
    file.write_text(json.dumps(newer))
    with pytest.raises(BadPlan, match=r"cannot read .*plan\.json: a newer version .* reads versions up to 1"):
        read_plan(file, "")


def test_the_fields_of_a_plan_change_only_with_its_storage_version(tmp_path: Path) -> None:
    """A change of these fields needs a new ``STORAGE_VERSION``, and a conversion with a test."""
    file = tmp_path / "plan.json"
    write_plan(file, REQUESTED, RESULT)
    plan = json.loads(file.read_text())
    assert plan["storageVersion"] == 1
    assert sorted(plan) == sorted(
        (
            *("apiVersion", "kind", "storageVersion", "createdAt", "digest"),
            *("asked", "names", "summary", "plan", "plan_inputs"),
        )
    )


def test_an_option_that_holds_no_secret_is_stored() -> None:
    """A new option is stored too. If it may hold a secret, add it to ``SECRET_OPTIONS`` instead of here."""
    assert set(PLAN_OPTIONS) - set(RUN_OPTIONS) == {
        "release",
        "release_checksum",
        "release_version",
        "hops",
        "release_catalog",
        "profile",
        "change_profile",
        "components",
        "abandon",
        "prune",
        "strict",
        "allow_webhooks",
        "component_roles",
        "migration_roles",
    }
    assert set(RUN_OPTIONS) == {
        "component_list",
        "values_files",
        "helm_binary",
        "replace_immutable",
        "adopt_losses",
        "force_conflicts",
        "interactive_managers",
        "strict_drift",
        "refuse_unknown_fields",
        "takeover",
        "prune_allow",
        "migration_paths",
        "migration_collections",
        "skip_migrations",
    }


def test_a_run_takes_each_option_that_a_stored_plan_has_recorded() -> None:
    stages = (ROOT / "roles" / "kyma" / "tasks" / "stages.yml").read_text()
    assert sorted(re.findall(r"__kyma_kept\.(\w+)", stages)) == sorted(RUN_OPTIONS)


def test_secret_options_are_stored_by_name_without_their_values(tmp_path: Path) -> None:
    written = {**PARAMS, "values_files": ["values/all.yaml", "/etc/live.yaml"]}
    file = tmp_path / "plan.json"
    write_plan(file, REQUESTED, RESULT, names_of(written))
    assert "secret-word" not in file.read_text()
    names = read_plan(file, "")["names"]
    assert option_mismatches(names, names_of(PARAMS)) == []
    assert option_mismatches(names, names_of({**written, "values_files": ["all.yaml", "live.yaml"]})) == []
    assert option_mismatches(names, names_of({**PARAMS, "values_files": ["all.yaml", "other.yaml"]})) == [
        "values_files (kyma_values_files): the plan was made with live.yaml: set it again",
        "values_files (kyma_values_files): the plan was made without other.yaml: remove it, or plan again",
    ]
    assert option_mismatches(names, {}) == [
        "overrides (kyma_overrides): the plan was made with logging.password: set it again",
        "migration_variables (kyma_migration_variables): the plan was made with colour: set it again",
    ]


def test_options_that_are_not_given_come_from_the_stored_plan() -> None:
    requested = {"release": "2.11", "hops": "auto", "profile": "production", "prune": True}
    plan = {"asked": requested}
    assert options_from_plan(plan, {}, 1) == requested
    assert options_from_plan(plan, {"release": "/elsewhere/2.11", "strict": True}, 1) == {
        "hops": "auto",
        "profile": "production",
        "prune": True,
    }
    assert options_from_plan(plan, {"release": "2.10"}, 2) == {"profile": "production", "prune": True}
    assert options_from_plan(plan, {}, 2) == {"profile": "production", "prune": True}


def test_hops_are_counted_from_one() -> None:
    assert [version_of_hop(RESULT, hop) for hop in (1, 2)] == ["2.9", "2.10"]
    for hop in (0, 3):
        with pytest.raises(BadPlan, match=rf"plan_hop: .* no hop {hop}, as it leads to 2\.9, 2\.10"):
            version_of_hop(RESULT, hop)


def test_an_older_plan_is_replaced(tmp_path: Path) -> None:
    file = tmp_path / "plan.json"
    file.write_text("old")
    file.chmod(0o644)
    write_plan(file, REQUESTED, RESULT)
    assert file.stat().st_mode & 0o777 == 0o600
    assert read_plan(file, "")


def test_another_one_than_was_approved_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "plan.json"
    write_plan(file, REQUESTED, RESULT)
    with pytest.raises(BadPlan, match="was approved"):
        read_plan(file, "sha256:" + 64 * "0")


def test_one_that_was_edited_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "plan.json"
    write_plan(file, REQUESTED, RESULT)
    file.write_text(json.dumps({**json.loads(file.read_text()), "summary": ["all is well"]}))
    with pytest.raises(BadPlan, match="was changed since"):
        read_plan(file, "")


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"apiVersion": "v1", "kind": "Plan"}'])
def test_a_file_without_a_plan_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "plan.json"
    file.write_text(text)
    with pytest.raises(BadPlan, match=r"plan\.json"):
        read_plan(file, "")


def test_a_place_where_none_can_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadPlan, match=r"plan_out \(kyma_plan_out\): .* can't be written to .*: No such file"):
        write_plan(tmp_path / "nowhere" / "plan.json", REQUESTED, RESULT)


def test_code_is_the_same_wherever_it_lies(tmp_path: Path) -> None:
    for name, text in (("one", "A = 1"), ("same", "A = 1"), ("other", "A = 2")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "migration.py").write_text(text)

    def digest(name: str) -> str:
        return archive_code_digest(pack_migrations([MigrationFolder("playbook", str(tmp_path / name))]))

    assert digest("one") == digest("same")
    assert digest("one") != digest("other")
