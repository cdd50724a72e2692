# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The alerts of the example fire when a person should act; its objects fit the Prometheus operator."""

from __future__ import annotations

import os
import re
import subprocess
import time
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.errand_model import (
    ErrandKey,
    errand_from,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.metrics import EngineMetrics

from tests.cluster import packages
from tests.cluster.errors import ClusterError
from tests.cluster.paths import ROOT
from tests.support.needs import skip

MONITORING: dict[str, Any] = yaml.safe_load((ROOT / "examples" / "errands" / "monitoring.yaml").read_text())
OBJECTS = {obj["kind"]: obj for obj in MONITORING["items"]}
RULES: dict[str, Any] = OBJECTS["PrometheusRule"]["spec"]
HOUR = 60
"""Samples, one each minute."""


def case(
    alert: str, minutes: int, *, fires: bool, namespaces: tuple[str, ...] = (), **series: str
) -> dict[str, Any]:
    """A case for promtool: whether an alert fires after some minutes of these series.

    Args:
        alert: its name.
        minutes: when.
        fires: whether it fires.
        namespaces: for each of which it fires; none for an alert about the engine.
        series: by name and labels.
    """
    rule = next(one for one in RULES["groups"][0]["rules"] if one["alert"] == alert)
    labels = [{**rule["labels"], "namespace": one} for one in namespaces] or [rule["labels"]]
    expected = [{"exp_labels": one, "exp_annotations": {}} for one in labels] if fires else []
    return {
        "interval": "1m",
        "input_series": [{"series": name, "values": values} for name, values in series.items()],
        "alert_rule_test": [{"eval_time": f"{minutes}m", "alertname": alert, "exp_alerts": expected}],
    }


LEADER, QUEUE = 'kyma_errands_leader{pod="a"}', 'kyma_errands_queue_length{pod="a"}'
FAILED = 'kyma_errands_run_failures_total{pod="a",namespace="shop"}'
OTHER_FAILED = 'kyma_errands_run_failures_total{pod="a",namespace="bank"}'
LAST_FAILURE = 'kyma_errands_last_failure_timestamp_seconds{pod="a",namespace="shop"}'
OLDEST_RUN = 'kyma_errands_oldest_open_run_timestamp_seconds{pod="a",namespace="shop"}'
WATCHES = 'kyma_errands_failing_watches{pod="a"}'
LONGEST = 'kyma_errands_oldest_reconciliation_timestamp_seconds{pod="a"}'
ERRORS = 'kyma_errands_reconciliation_errors_total{pod="a",namespace="shop"}'
SHOP = ("shop",)
CASES = [
    case("KymaErrandsNoEngine", 10, fires=True),
    case("KymaErrandsNoEngine", 10, fires=True, **{LEADER: "0x60"}),
    case("KymaErrandsNoEngine", 10, fires=False, **{LEADER: "1x60"}),
    # Another engine takes over.
    case("KymaErrandsNoEngine", 10, fires=False, **{LEADER: "1x8 0x3 1x60"}),
    case("KymaErrandsWait", 30, fires=True, **{QUEUE: "0+2x60"}),
    case("KymaErrandsWait", 30, fires=False, **{QUEUE: "0x20 200 0x60"}),
    case("KymaErrandsStuck", 30, fires=True, **{LONGEST: "120x60"}),
    case("KymaErrandsStuck", 30, fires=False, **{LONGEST: "120x17 stale"}),
    case("KymaErrandsFailed", 8, fires=True, namespaces=SHOP, **{FAILED: "0x5 2x60", OTHER_FAILED: "0x60"}),
    case(
        "KymaErrandsFailed",
        8,
        fires=True,
        namespaces=("bank", "shop"),
        **{FAILED: "0x5 2x60", OTHER_FAILED: "0x5 1x60"},
    ),
    # It ends by itself, and an engine that has just begun shows what it has recorded already.
    case("KymaErrandsFailed", 40, fires=False, **{FAILED: "0x5 2x60"}),
    case("KymaErrandsFailed", 40, fires=False, **{FAILED: "2x60", LAST_FAILURE: "120x60"}),
    case("KymaErrandsFailed", 3, fires=True, namespaces=SHOP, **{FAILED: "1x60", LAST_FAILURE: "120x60"}),
    case("KymaErrandsRunLong", 1500, fires=True, namespaces=SHOP, **{OLDEST_RUN: "120x1600"}),
    case("KymaErrandsRunLong", 1500, fires=False, **{OLDEST_RUN: "120+60x1600"}),
    case("KymaErrandsWatchGone", 10, fires=True, **{WATCHES: "0x2 1x60"}),
    case("KymaErrandsWatchGone", 10, fires=False, **{WATCHES: "0x2 1x2 0x60"}),
    case("KymaErrandsNotReconciled", 60, fires=True, namespaces=SHOP, **{ERRORS: "0+1x60"}),
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


def test_the_metrics_are_as_prometheus_wants_them(promtool: Path) -> None:
    metrics = EngineMetrics()
    outcome = {"namespace": "shop", "state": "failed", "reason": "ContainerFailed", "seconds": 7.0}
    metrics.count_outcome(outcome)
    metrics.count_reconciliation(ErrandKey("shop", "backup"), has_failed=True)
    status = {
        "phase": "Running",
        "run": {"number": 1, "reason": "Once", "generation": 1, "noted": "2026-11-29T10:00:00Z"},
        "conditions": [
            {"type": "Succeeded", "status": "False", "lastTransitionTime": "2026-11-29T10:00:00Z"}
        ],
    }
    errand = errand_from({"metadata": {"namespace": "shop", "name": "backup"}, "status": status})
    text = metrics.text([errand], is_leader=True, waiting=1, oldest_reconciliation=time.time())
    assert all(len(one.splitlines()) > 1 for one in text.split("# HELP ")[1:])
    done = subprocess.run(
        [promtool, "check", "metrics"], input=text, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout + done.stderr) == (0, "")
    named = {
        word for rule in RULES["groups"][0]["rules"] for word in re.findall(r"kyma_errands_\w+", rule["expr"])
    }
    assert named <= set(re.findall(r"^# TYPE (\w+)", text, re.MULTILINE))


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
