# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A plan as a file on the controller: for people to review and approve, and to apply later."""

from __future__ import annotations

import hashlib
import io
import json
import os
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...module_utils._cluster.cluster import API_VERSION
from ...module_utils._custom_resources.storage_version import NewerRecord
from ...module_utils._errors import LifecycleError
from ...module_utils._release.limits import LIMITS_SPEC
from ...module_utils._tasks.plan import DEFINITION, PLAN_FILE_SPEC, ROLLOUT_SPEC, RUN_SPEC
from ...module_utils._tasks.shared.shared_options import DEPLOY_SPEC, PRUNE_ALLOW
from ...module_utils._timestamp import timestamp

KIND = "Plan"
HOP = ("release", "release_checksum", "release_version", "hops", "release_catalog")
"""Options that say which way to go; a later hop of it has its own."""
NAMED = ("component_list", "values_files")
"""Options of which a plan knows the names of the files."""
SECRET_OPTIONS = ("overrides", "migration_variables")
"""Options that have to be given again, as they may hold secrets."""
PLAN_OPTIONS = tuple(
    name
    for name in DEFINITION.argument_spec
    if name not in (*SECRET_OPTIONS, *LIMITS_SPEC, *PLAN_FILE_SPEC, *RUN_SPEC, *ROLLOUT_SPEC)
)
"""Options that a plan keeps, so that they need not be given again; none of them holds a secret."""
RUN_OPTIONS = tuple(
    name for name in PLAN_OPTIONS if name in (DEPLOY_SPEC | PRUNE_ALLOW) and name not in (*HOP, "profile")
)
"""Options that the tasks of a run need, too."""

STORAGE_VERSION = 1
"""The version in which plans are written. A change of their fields needs a new one, and a conversion."""


class BadPlan(LifecycleError):
    """A file can't be applied as a plan."""


def write_plan(
    path: Path, options: Mapping[str, Any], result: Mapping[str, Any], names: Mapping[str, Any] | None = None
) -> str:
    """Store a plan in a file that only its owner may read; return its digest.

    Args:
        path: of the file.
        options: the options to store, as :func:`given_options` returns them.
        names: the values that are known only by name, as :func:`names_of` returns them.
        result: the result of the task ``plan``, with ``plan_inputs``.

    Raises:
        BadPlan: the file can't be written.
    """
    document: dict[str, Any] = {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "storageVersion": STORAGE_VERSION,
        "createdAt": timestamp(),
        "asked": dict(options),
        "names": dict(names or {}),
        "summary": list(result["summary"]),
        "plan": {key: value for key, value in result["plan"].items() if key != "noted"},
        "plan_inputs": result["plan_inputs"],
    }
    digest = plan_file_digest(document)
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump({**document, "digest": digest}, file, indent=2)
            file.write("\n")
        unfinished.replace(path)
    except OSError as error:
        raise BadPlan(
            f"plan_out (kyma_plan_out): the plan can't be written to {path}: {error.strerror}"
        ) from error
    return digest


def given_options(params: Mapping[str, Any], spec: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The options that a plan stores and that have a value.

    Args:
        params: validated options.
        spec: of the options, with their defaults.
    """
    options = {name: params.get(name) for name in PLAN_OPTIONS}
    return {
        name: value for name, value in options.items() if value not in (None, "", spec[name].get("default"))
    }


def options_from_plan(plan: Mapping[str, Any], given: Mapping[str, Any], hop: int) -> dict[str, Any]:
    """The options of a stored plan that the given ones do not replace.

    Args:
        plan: the stored plan.
        given: the options that were given with it, as :func:`given_options` returns them.
        hop: the number of the current one; 1 is the first.
    """
    own = HOP if hop > 1 else ()
    return {name: value for name, value in plan["asked"].items() if name not in (*own, *given)}


def version_of_hop(plan: Mapping[str, Any], hop: int) -> str:
    """The version that a hop leads to; 1 is the first hop.

    Raises:
        BadPlan: the plan has no such hop.
    """
    versions = [plan["plan"]["version"], *(one["version"] for one in plan["plan"]["later"])]
    if not 1 <= hop <= len(versions):
        raise BadPlan(f"plan_hop: the stored plan has no hop {hop}, as it leads to {', '.join(versions)}")
    return str(versions[hop - 1])


def names_of(written: Mapping[str, Any]) -> dict[str, list[str]]:
    """The names in values that may hold secrets, without any value.

    Args:
        written: the options as the user wrote them.
    """
    names = {
        "component_list": [Path(file).name for file in [written.get("component_list")] if file],
        "values_files": [Path(file).name for file in written.get("values_files") or ()],
        "overrides": [text.partition("=")[0] for text in written.get("overrides") or ()],
        "migration_variables": list(written.get("migration_variables") or ()),
    }
    return {option: sorted(listed) for option, listed in names.items() if listed}


def option_mismatches(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """The names that a plan had and that are missing now, or the other way round, each in a sentence.

    Args:
        before: the names in the plan, see :func:`names_of`.
        now: the same of the options given with it; files are optional.
    """
    mismatches = []
    for option in (*(name for name in NAMED if now.get(name)), *SECRET_OPTIONS):
        planned, given = set(before.get(option) or ()), set(now.get(option) or ())
        named = f"{option} (kyma_{option})"
        if missing := ", ".join(sorted(planned - given)):
            mismatches.append(f"{named}: the plan was made with {missing}: set it again")
        if more := ", ".join(sorted(given - planned)):
            mismatches.append(f"{named}: the plan was made without {more}: remove it, or plan again")
    return mismatches


def read_plan(path: Path, approved: str) -> dict[str, Any]:
    """A stored plan.

    Args:
        path: of the file.
        approved: the digest that a person has approved, or empty.

    Raises:
        BadPlan: the file is no plan, it was edited, another one was approved, or its version is newer.
    """
    try:
        plan = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BadPlan(f"{path} can't be read as a plan: {error}") from error
    kind = (plan.get("apiVersion"), plan.get("kind")) if isinstance(plan, dict) else None
    if kind != (API_VERSION, KIND):
        raise BadPlan(f"{path} is no {API_VERSION} {KIND}, which is what plan_out writes: plan again")
    if (version := plan.get("storageVersion")) not in range(1, STORAGE_VERSION + 1):
        raise BadPlan(str(NewerRecord(str(path), version, STORAGE_VERSION)))
    digest = plan_file_digest(plan)
    if plan.get("digest") != digest:
        raise BadPlan(f"{path} was changed since it was written, so it is not what was planned: plan again")
    if approved and approved.removeprefix("sha256:") != digest.removeprefix("sha256:"):
        raise BadPlan(
            f"{path} has the digest {digest}, and {approved} was approved by plan_digest (kyma_plan_digest)"
        )
    return dict(plan)


def plan_file_digest(document: Mapping[str, Any]) -> str:
    """sha256 over the whole content of a file with a plan."""
    hashed = {key: value for key, value in document.items() if key != "digest"}
    return "sha256:" + hashlib.sha256(json.dumps(hashed, sort_keys=True).encode()).hexdigest()


def archive_code_digest(archive: bytes) -> str:
    """sha256 over the code of packed migrations, independent of their folders."""

    with zipfile.ZipFile(io.BytesIO(archive)) as packed:
        # The first two parts of a name give the place where it was found.
        files = sorted(
            (name.split("/", 2)[2], hashlib.sha256(packed.read(name)).hexdigest())
            for name in packed.namelist()
            if name.endswith(".py") and name.count("/") > 1
        )
    return hashlib.sha256(json.dumps(files).encode()).hexdigest()
