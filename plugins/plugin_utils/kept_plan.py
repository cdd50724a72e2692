# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A plan as a file on the controller: to be looked at and approved, and carried out later."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ansible_collections.kyma.lifecycle.plugins.module_utils._errors import LifecycleError

API_VERSION = "lifecycle.kyma-project.io/v1alpha1"
KIND = "Plan"
ASKED = (
    "release",
    "release_checksum",
    "release_version",
    "profile",
    "components",
    "abandon",
    "hops",
    "release_catalog",
)
"""Options that a plan keeps, so that they need not be given again; none of them is a secret."""
AGAIN = ("component_list", "values_files", "overrides", "migration_variables")
"""Options that have to be given again, as later tasks need them, too, and they may hold secrets."""


class BadPlan(LifecycleError):
    """A file can't be carried out as a plan."""


def write_plan(
    path: Path, params: Mapping[str, Any], result: Mapping[str, Any], again: Mapping[str, Any] | None = None
) -> str:
    """Keep a plan; its digest is the answer, and nobody else may read the file.

    Args:
        path: of the file.
        params: the options that the plan was made with.
        again: what has to be given again, as :func:`names_of` has it.
        result: what the task ``plan`` answered with, ``saw`` included.

    Raises:
        BadPlan: the file can't be written.
    """
    kept: dict[str, Any] = {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "createdAt": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "asked": {name: params[name] for name in ASKED if params.get(name)},
        "again": dict(again or {}),
        "summary": list(result["summary"]),
        "plan": {key: value for key, value in result["plan"].items() if key != "noted"},
        "saw": result["saw"],
    }
    digest = digest_of(kept)
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump({**kept, "digest": digest}, file, indent=2)
            file.write("\n")
        unfinished.replace(path)
    except OSError as error:
        raise BadPlan(f"plan_out: the plan can't be written to {path}: {error.strerror}") from error
    return digest


def names_of(written: Mapping[str, Any]) -> dict[str, list[str]]:
    """The names in what has to be given again, without any value.

    Args:
        written: the options as the user wrote them.
    """
    names = {
        "component_list": [Path(file).name for file in [written.get("component_list")] if file],
        "values_files": [Path(file).name for file in written.get("values_files") or ()],
        "overrides": [text.partition("=")[0] for text in written.get("overrides") or ()],
        "migration_variables": list(written.get("migration_variables") or ()),
    }
    return {option: sorted(found) for option, found in names.items() if found}


def not_given_again(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """What a plan was made with and is missing now, or the other way round, each in a sentence."""
    told = []
    for option in AGAIN:
        then, here = set(before.get(option) or ()), set(now.get(option) or ())
        if missing := ", ".join(sorted(then - here)):
            told.append(f"kyma_{option}: the plan was made with {missing}: give that again")
        if more := ", ".join(sorted(here - then)):
            told.append(f"kyma_{option}: the plan was made without {more}: leave that out, or plan again")
    return told


def read_plan(path: Path, approved: str) -> dict[str, Any]:
    """A plan that was kept.

    Args:
        path: of the file.
        approved: the digest that a person has approved, or empty.

    Raises:
        BadPlan: it is no such file, it was edited, or another one was approved.
    """
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BadPlan(f"{path} can't be read as a plan: {error}") from error
    kind = (kept.get("apiVersion"), kept.get("kind")) if isinstance(kept, dict) else None
    if kind != (API_VERSION, KIND):
        raise BadPlan(f"{path} is no {API_VERSION} {KIND}, which is what plan_out writes: plan again")
    digest = digest_of(kept)
    if kept.get("digest") != digest:
        raise BadPlan(f"{path} was changed since it was written, so it is not what was planned: plan again")
    if approved and approved.removeprefix("sha256:") != digest.removeprefix("sha256:"):
        raise BadPlan(f"{path} has the digest {digest}, and {approved} was approved (plan_digest)")
    return dict(kept)


def digest_of(kept: Mapping[str, Any]) -> str:
    """sha256 over all that a file with a plan says."""
    said = {key: value for key, value in kept.items() if key != "digest"}
    return "sha256:" + hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()


def code_digest(archive: bytes) -> str:
    """sha256 over the code of packed migrations, wherever their folders lie."""
    import io
    import zipfile

    with zipfile.ZipFile(io.BytesIO(archive)) as packed:
        # The first two parts of a name tell where it was found.
        files = sorted(
            (name.split("/", 2)[2], hashlib.sha256(packed.read(name)).hexdigest())
            for name in packed.namelist()
            if name.endswith(".py") and name.count("/") > 1
        )
    return hashlib.sha256(json.dumps(files).encode()).hexdigest()
