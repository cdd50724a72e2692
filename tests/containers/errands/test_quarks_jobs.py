# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The examples of QuarksJob, converted, do what they did."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
import yaml
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.errand_model import (
    ErrandPhase,
    Strategy,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.quarks_job import (
    errand_from_quarks_job,
    is_quarks_job,
)

from tests.cluster.paths import ROOT
from tests.support.containers import BUSYBOX, pod_spec
from tests.support.errands import ErrandSite
from tests.support.needs import skip
from tests.support.stories import Story, story

pytestmark = pytest.mark.containers

DATA = Path(os.environ.get("KYMA_TEST_DATA") or ROOT.parent / "shared" / "data") / "quarks-jobs"
SLEEP = "2"
"""Seconds for which the examples sleep here."""


def example(name: str) -> Iterator[Object]:
    """The objects of an example, its QuarksJob converted, for this cluster.

    Its pods go to the real node and have an image of it, and they don't sleep for as long.
    """
    path = DATA / f"qjob_{name}.yaml"
    if not path.exists():
        skip(f"there are no examples of QuarksJob at {DATA}: set KYMA_TEST_DATA")
    for obj in yaml.safe_load_all(path.read_text()):
        if not is_quarks_job(obj):
            yield obj
            continue
        converted = errand_from_quarks_job(obj).errand
        pods = converted["spec"]["template"]["spec"]["template"]["spec"]
        place = pod_spec()
        pods |= {field: place[field] for field in ("nodeSelector", "tolerations")}
        for one in pods["containers"]:
            one["image"] = BUSYBOX
            if one["command"][0] == "sleep":
                one["command"][1] = SLEEP
            one["args"] = [text.replace("sleep 5", f"sleep {SLEEP}") for text in one.get("args", ())]
        yield converted


def apply(site: ErrandSite, name: str) -> None:
    """Apply an example as its users do."""
    for obj in example(name):
        site.apply(obj)


@story
def test_the_examples_of_quarks_jobs_run(site: ErrandSite) -> Story:
    """The seven QuarksJob examples work after a change of `apiVersion` and `kind` (cases 1, 2, 3 and 6)."""
    for name in ("auto-errand", "auto-errand-deletes-pod", "auto-errand-updating", "errand", "output"):
        apply(site, name)
    automatic = ("one-time-sleep", "deletes-pod-1", "auto-errand-sleep-again", "myfoo")
    yield site.is_settled(*automatic, runs=1)
    yield site.is_settled("manual-sleep")
    for name in automatic:
        settled_errand = site.errand(name)
        assert (settled_errand.status.phase, settled_errand.spec.strategy) == (
            ErrandPhase.SUCCEEDED,
            Strategy.DONE,
        )
        yield partial(lambda name: not site.jobs(name), name)
    assert site.jobs("manual-sleep") == []
    yield lambda: not site.pods("deletes-pod-1")
    assert len(site.pods("one-time-sleep")) == 1
    assert site.secret("foo-json") == {"foo": "1", "bar": "baz"}
    secret = site.secret_object("foo-json") or {}
    assert secret["metadata"]["labels"]["key"] == "value"

    apply(site, "errand_updated")
    apply(site, "auto-errand-updating_updated")
    yield site.is_settled("manual-sleep", runs=1)
    yield site.is_settled("auto-errand-sleep-again", runs=2)
    assert site.errand("manual-sleep").spec.strategy is Strategy.MANUAL
    yield site.after(2)
    yield site.is_settled("auto-errand-sleep-again", runs=2)
