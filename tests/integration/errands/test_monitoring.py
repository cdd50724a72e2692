# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The alerts of the example fire when a person should act; its objects fit the Prometheus operator."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from tests.cluster import packages
from tests.cluster.errors import ClusterError
from tests.cluster.paths import ROOT
from tests.support.needs import skip

MONITORING: dict[str, Any] = yaml.safe_load((ROOT / "examples" / "errands" / "monitoring.yaml").read_text())
OBJECTS = {obj["kind"]: obj for obj in MONITORING["items"]}
RULES: dict[str, Any] = OBJECTS["PrometheusRule"]["spec"]
HOUR = 60
"""Samples, one each minute."""


def case(alert: str, minutes: int, *, fires: bool, **series: str) -> dict[str, Any]:
    """A case for promtool: whether an alert fires after some minutes of these series."""
    rule = next(one for one in RULES["groups"][0]["rules"] if one["alert"] == alert)
    expected = [{"exp_labels": rule["labels"], "exp_annotations": {}}] if fires else []
    return {
        "interval": "1m",
        "input_series": [{"series": name, "values": values} for name, values in series.items()],
        "alert_rule_test": [{"eval_time": f"{minutes}m", "alertname": alert, "exp_alerts": expected}],
    }


LEADER, QUEUE = 'kyma_errands_leader{pod="a"}', 'kyma_errands_queue_length{pod="a"}'
FAILED = 'kyma_errands_errands{pod="a",phase="Failed"}'
WATCHES = 'kyma_errands_failing_watches{pod="a"}'
LONGEST = 'kyma_errands_longest_reconciliation_seconds{pod="a"}'
ERRORS = 'kyma_errands_reconciliation_errors_total{pod="a"}'
CASES = [
    case("KymaErrandsNoEngine", 10, fires=True),
    case("KymaErrandsNoEngine", 10, fires=True, **{LEADER: "0x60"}),
    case("KymaErrandsNoEngine", 10, fires=False, **{LEADER: "1x60"}),
    # Another engine takes over.
    case("KymaErrandsNoEngine", 10, fires=False, **{LEADER: "1x8 0x3 1x60"}),
    case("KymaErrandsWait", 30, fires=True, **{QUEUE: "0+2x60"}),
    case("KymaErrandsWait", 30, fires=False, **{QUEUE: "0x20 200 0x60"}),
    case("KymaErrandsStuck", 30, fires=True, **{LONGEST: "0+60x60"}),
    case("KymaErrandsStuck", 30, fires=False, **{LONGEST: "0+60x14 0x60"}),
    case("KymaErrandsFailed", 10, fires=True, **{FAILED: "0x5 2x60"}),
    case("KymaErrandsFailed", 10, fires=False, **{FAILED: "2x5 0x60"}),
    case("KymaErrandsWatchGone", 10, fires=True, **{WATCHES: "0x2 1x60"}),
    case("KymaErrandsWatchGone", 10, fires=False, **{WATCHES: "0x2 1x2 0x60"}),
    case("KymaErrandsNotReconciled", 60, fires=True, **{ERRORS: "0+1x60"}),
    case("KymaErrandsNotReconciled", 60, fires=False, **{ERRORS: "0x10 5x60"}),
]


@pytest.fixture(scope="module")
def promtool() -> Path:
    """Prometheus's own tool for rules."""
    try:
        packages.need("promtool")
    except ClusterError as error:
        skip(str(error))
    path = packages.find("promtool")
    assert path
    return path


def test_each_alert_fires_when_a_person_should_act_and_not_else(promtool: Path, tmp_path: Path) -> None:
    # What is tested is when they fire; their texts have values.
    rules = {
        "groups": [
            {**group, "rules": [{**rule, "annotations": {}} for rule in group["rules"]]}
            for group in RULES["groups"]
        ]
    }
    (tmp_path / "rules.yaml").write_text(yaml.safe_dump(rules))
    tests = {"rule_files": ["rules.yaml"], "evaluation_interval": "1m", "tests": CASES}
    (tmp_path / "tests.yaml").write_text(yaml.safe_dump(tests))
    done = subprocess.run(
        [promtool, "test", "rules", "tests.yaml"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert {rule["alert"] for rule in RULES["groups"][0]["rules"]} == {
        one["alert_rule_test"][0]["alertname"] for one in CASES
    }


def test_the_rules_are_valid_as_they_are(promtool: Path, tmp_path: Path) -> None:
    (tmp_path / "rules.yaml").write_text(yaml.safe_dump(RULES))
    done = subprocess.run(
        [promtool, "check", "rules", "rules.yaml"], cwd=tmp_path, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stdout.decode() + done.stderr.decode()


@pytest.mark.parametrize("kind", ["ServiceMonitor", "PrometheusRule"])
def test_the_objects_fit_the_definitions_of_the_prometheus_operator(kind: str) -> None:
    data = Path(os.environ.get("KYMA_TEST_DATA") or ROOT.parent / "shared" / "data")
    folder = data / "kyma-releases" / "2.9" / "crds" / "monitoring"
    if not folder.is_dir():
        skip(f"there are no real releases at {data}: set KYMA_TEST_DATA")
    definitions = [
        yaml.load(file.read_text(), yaml.CSafeLoader) for file in folder.glob(f"{kind.lower()}s*.yaml")
    ]
    (definition,) = definitions
    (version,) = definition["spec"]["versions"]
    schema = _closed(version["schema"]["openAPIV3Schema"])
    jsonschema.validate({name: OBJECTS[kind][name] for name in ("apiVersion", "kind", "spec")}, schema)
    assert OBJECTS[kind]["apiVersion"] == f"{definition['spec']['group']}/{version['name']}"


def _closed(schema: Any) -> Any:
    """A schema that also refuses fields that it does not know, as they would be dropped."""
    if isinstance(schema, list):
        return [_closed(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    closed = {name: _closed(one) for name, one in schema.items()}
    if "properties" in schema and isinstance(schema["properties"], dict):
        closed.setdefault("additionalProperties", False)
    return closed
