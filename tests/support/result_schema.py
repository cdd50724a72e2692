# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a ``kyma_result`` is as documented."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import jsonschema
import pytest

from tests.cluster.paths import ROOT

SCHEMA = ROOT / "docs" / "kyma_result.schema.json"
IN_TOTAL = ("plan", "phase")


def schema_problems(result: Mapping[str, Any]) -> list[str]:
    """All differences of a result from the documented schema, in words."""
    validator = jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text("utf-8")))
    return [f"{error.json_path}: {error.message}" for error in validator.iter_errors(dict(result))]


def check_result(result: Mapping[str, Any]) -> None:
    """Assert that a result has the schema, and that its durations add up and stand in order."""
    assert schema_problems(result) == []
    rows = [row for row in result["durations"] if row["kind"] in IN_TOTAL]
    assert sum(row["seconds"] for row in rows) == pytest.approx(result["seconds"], abs=0.002)
    begins = [row["started_at"] for row in rows if row["started_at"]]
    assert begins == sorted(begins)
    assert all(row["started_at"] <= row["finished_at"] for row in result["durations"])
    assert all(row["component"] for row in result["durations"] if row["kind"] == "migration")
