# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The guide to errands has all phases, reasons, strategies and roles. It links to pages that there are."""

from __future__ import annotations

import re

import pytest
import yaml
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands import (
    open_errand_run,
    output,
    output_collector,
    step_execution,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.authoring.errand_object import (
    ErrandRequest,
    desired_errand,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.errand_definition import (
    ENGINE_ROLE,
    ROLES,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.errand_engine import LEASE
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.errand_model import (
    ErrandPhase,
    Strategy,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._jobs import job_outcome
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.access.rights import Right
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.lease.lease_rights import lease_rights

from tests.cluster.paths import ROOT

DOCS = ROOT / "docs"
EXAMPLES = ROOT / "examples"
GUIDE = (DOCS / "guide_errands.md").read_text()
_WORD = re.compile(r"[A-Z][a-z]+([A-Z][a-z]+)+|Refused|Disrupted")
_NO_REASONS = {"NodeAffinity", "NodeLost", "NodeShutdown"}


def table(heading: str) -> set[str]:
    """The first column of a table, by the heading of that column."""
    rows = GUIDE.partition(f"\n| {heading} |")[2].partition("\n\n")[0]
    return set(re.findall(r"^\| `([\w-]+)` \|", rows, re.MULTILINE))


def reasons() -> set[str]:
    """All reasons of failures that the code has as constants."""
    modules = (job_outcome, open_errand_run, output, output_collector, step_execution)
    values = [value for one in modules for name, value in vars(one).items() if name.isupper()]
    return {value for value in values if isinstance(value, str) and _WORD.fullmatch(value)}


def test_the_tables_have_all_phases_and_strategies_and_reasons() -> None:
    assert table("phase") == {str(one) for one in ErrandPhase}
    assert table("`trigger.strategy`") == {str(one) for one in Strategy}
    assert len(reasons()) > 15
    assert table("reason of a failure") == reasons() - _NO_REASONS


def test_the_roles_are_those_that_are_installed() -> None:
    assert table("ClusterRole") == {role["metadata"]["name"] for role in ROLES}


def test_variables_of_the_guide_exist() -> None:
    specs = yaml.safe_load((ROOT / "roles" / "kyma_errand" / "meta" / "argument_specs.yml").read_text())
    known = set(specs["argument_specs"]["main"]["options"])
    for name in ("reconcile_errands", "watch_errands"):
        known |= set(re.findall(r"kyma_errand_\w+", (ROOT / "playbooks" / f"{name}.yml").read_text()))
    assert set(re.findall(r"\bkyma_errand_\w+", GUIDE)) <= known


def test_links_of_the_guide_have_targets() -> None:
    for place, anchor in re.findall(r"\]\((?!https:)([\w./]*)(?:#([\w-]+))?\)", GUIDE):
        path = (DOCS / place).resolve() if place else DOCS / "guide_errands.md"
        assert path.exists(), place
        if anchor:
            headings = [
                line.lstrip("# ").lower() for line in path.read_text().splitlines() if line[:1] == "#"
            ]
            assert anchor in [re.sub(r"[^\w -]", "", one).replace(" ", "-") for one in headings], anchor


def test_yaml_of_the_guide_is_readable_and_its_errands_are_valid() -> None:
    blocks = [
        yaml.safe_load(block) for block in re.findall(r"^```yaml\n(.*?)^```", GUIDE, re.MULTILINE | re.DOTALL)
    ]
    assert len(blocks) > 3
    errands = [block for block in blocks if isinstance(block, dict) and block.get("kind") == "Errand"]
    assert errands
    for one in errands:
        assert desired_errand(ErrandRequest(namespace="ns", definition=one)).problems == ()


def test_the_example_is_sound() -> None:
    definition = yaml.safe_load((EXAMPLES / "errands" / "credentials.yaml").read_text())
    desired = desired_errand(ErrandRequest(namespace="shop", definition=definition))
    assert (desired.problems, desired.warnings) == ((), ())


@pytest.fixture
def engine() -> dict[tuple[str, str], Object]:
    """The objects of the engine's Deployment, by kind and name."""
    example = yaml.safe_load((EXAMPLES / "errands" / "engine.yaml").read_text())
    return {(one["kind"], one["metadata"]["name"]): one for one in example["items"]}


def test_the_engine_has_the_role_that_is_installed_and_runs_a_playbook_by_its_account(
    engine: dict[tuple[str, str], Object],
) -> None:
    binding = engine["ClusterRoleBinding", "kyma-lifecycle-errands-engine"]
    assert binding["roleRef"]["name"] == ENGINE_ROLE["metadata"]["name"]
    deployment = engine["Deployment", "errands"]
    pod = deployment["spec"]["template"]["spec"]
    for one in engine.values():
        for subject in one.get("subjects", ()):
            assert (subject["name"], subject["namespace"]) == (
                pod["serviceAccountName"],
                deployment["metadata"]["namespace"],
            )
    (container,) = pod["containers"]
    assert container["command"] == ["ansible-playbook"]


def test_beside_that_role_the_engine_may_hold_its_lease_and_no_more(
    engine: dict[tuple[str, str], Object],
) -> None:
    granted = {
        Right(verb, group, resource, role["metadata"].get("namespace", ""), name)
        for role in engine.values()
        for rule in role.get("rules", ())
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
        for name in rule.get("resourceNames", [""])
    }
    assert granted == lease_rights(LEASE)
