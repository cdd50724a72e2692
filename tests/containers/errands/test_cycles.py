# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Errands that read what other errands write (case 16)."""

from __future__ import annotations

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.errand_model import ErrandPhase

from tests.support.containers import container
from tests.support.errands import ErrandSite, errand, output_map
from tests.support.stories import Story, story

pytestmark = pytest.mark.containers

WRITE_TIME = 'echo "{\\"time\\": \\"$(date +%s)\\"}" >/mnt/quarks/output.json'
"""Another output with each run."""


def reading(secret: str, *, is_optional: bool = False, script: str = "true") -> Object:
    """A container that refers to a Secret."""
    reference = {"secretRef": {"name": secret, "optional": is_optional}}
    return container("main", script, envFrom=[reference])


@story
def test_a_new_version_runs_its_readers_once(site: ErrandSite) -> Story:
    """Case 16: a new version of A's output runs B once, also where there was none at the start."""
    site.create(errand("reader", reading("feed-v1"), reruns=True))
    site.create(errand("reader-optional", reading("feed-v1", is_optional=True), reruns=True))
    yield site.is_settled("reader-optional", runs=1)
    yield site.is_settled("reader")
    assert site.errand("reader").status.phase is ErrandPhase.WAITING

    output = output_map(name="feed", versioned=True)
    site.create(errand("writer", container("main", WRITE_TIME), strategy="now", output=output))
    yield site.is_settled("reader", runs=1)
    yield site.is_settled("reader-optional", runs=2)
    yield site.is_settled("writer", runs=1)
    site.set_strategy("writer", "now")
    yield site.is_settled("reader", runs=2)
    yield site.is_settled("reader-optional", runs=3)
    assert site.secret_object("feed-v2") is not None
    yield site.after(2)
    yield site.is_settled("writer", "reader", runs=2)
    yield site.is_settled("reader-optional", runs=3)


@story
def test_a_circle_is_reported_and_not_run_for_ever(site: ErrandSite) -> Story:
    """Case 16: A and B that refer to each other → told, not run for ever."""
    for name, other in (("ring-a", "ring-b"), ("ring-b", "ring-a"), ("ring-self", "ring-self")):
        main = reading(f"{other}-out-v1", is_optional=True, script=WRITE_TIME)
        output = output_map(name=f"{name}-out", versioned=True)
        site.create(errand(name, main, output=output, reruns=True))
    names = ("ring-a", "ring-b", "ring-self")
    yield site.is_settled(*names, runs=1)
    yield site.after(3)
    yield site.is_settled(*names, runs=1)
    for name, circle in zip(
        names,
        ("ring-a -> ring-b -> ring-a", "ring-b -> ring-a -> ring-b", "ring-self -> ring-self"),
        strict=True,
    ):
        [condition] = [one for one in site.errand(name).status.conditions if one["type"] == "Cyclic"]
        assert condition["status"] == "True"
        assert circle in condition["message"]
        assert site.secret_object(f"{name}-out-v1") is not None
        assert site.secret_object(f"{name}-out-v2") is None

    # Opened at one place, it runs on from there, once.
    site.patch("ring-a", updateOnConfigChange=False)
    yield site.is_settled("ring-b", runs=2)
    yield site.is_settled("ring-a", runs=1)
    for name in ("ring-a", "ring-b"):
        assert not [one for one in site.errand(name).status.conditions if one["type"] == "Cyclic"]
