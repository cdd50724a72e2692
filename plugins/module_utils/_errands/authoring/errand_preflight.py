# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the API server would refuse of an errand and of its Job, before anything is written."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from ..._cluster.cluster import Cluster, Object
from ..._cluster.errors import AlreadyExists, ApiError, Conflict, Forbidden, Invalid, NotFound
from ..._jobs.job_template import job_name
from ..._objects.access.review import missing_rights
from ..._objects.access.rights import Right
from ..._text import one_line
from ..errand_definition import AUTHOR_ROLE, run_rights, run_rights_problem
from ..errand_model import Errand
from ..errand_view import ErrandView
from ..holding_container import job_with_output
from ..new_run import job_of_next_run
from .errand_object import DesiredErrand
from .errand_writing import apply_errand, conflict_problem

_NO_RUN = 0
"""No run has this number, so a Job of it is only ever rehearsed."""


@dataclass(frozen=True)
class Preflight:
    """The answers of the API server on an errand.

    Attributes:
        problems: why it can't be applied or run, each in a sentence.
        warnings: what its Job ignores of the template, and what the server could not validate.
        applied: the errand as it would be; None if that is unknown.
    """

    problems: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    applied: Object | None = None


def preflight(
    cluster: Cluster,
    desired: DesiredErrand,
    *,
    is_applied: bool,
    force: bool,
    runs_here: bool,
    holder_image: str,
    check_mode: bool,
) -> Preflight:
    """Have the API server validate an errand, and the Job that it would create.

    Args:
        cluster: writes by the author's field manager.
        desired: the errand, without problems.
        is_applied: whether it will be applied, with a definition that the server already has.
        force: whether to overwrite fields of other managers.
        runs_here: whether the caller will run the errand, so needs the rights for that.
        holder_image: of holding containers.
        check_mode: whether a namespace may be missing, as an earlier task would have created it.

    Raises:
        ClusterError: the server does not answer.
    """
    findings = _PreflightFindings(check_mode)
    applied = None
    if is_applied:
        try:
            applied = apply_errand(cluster, desired.obj, force=force, dry_run=True)
        except Conflict as conflict:
            findings.problems.append(conflict_problem(conflict))
        except NotFound:
            findings.add_missing_namespace(desired)
        except Forbidden as refusal:
            role = AUTHOR_ROLE["metadata"]["name"]
            findings.problems.append(
                f"the API server refuses it: {one_line(refusal.api_message)}. If you lack a right,"
                f" have the ClusterRole {role} granted to you in namespace {desired.key.namespace}"
            )
        except Invalid as refusal:
            findings.problems.append(f"the API server refuses it: {one_line(refusal.api_message)}")
    _rehearse_job(cluster, desired.errand, findings, runs_here=runs_here, holder_image=holder_image)
    if runs_here:
        missing = missing_rights(cluster, run_rights(desired.errand))
        if missing:
            problem = run_rights_problem(desired.errand, missing)
            findings.problems.append(f"{problem}, or set reconcile: false where an engine runs errands")
    problems, warnings = (tuple(dict.fromkeys(one)) for one in (findings.problems, findings.warnings))
    return Preflight(problems, warnings, applied)


class _PreflightFindings:
    def __init__(self, check_mode: bool) -> None:
        self.problems: list[str] = []
        self.warnings: list[str] = []
        self._check_mode = check_mode

    def add_missing_namespace(self, errand: DesiredErrand | Errand) -> None:
        text = f"namespace {errand.key.namespace} does not exist"
        if self._check_mode:
            self.warnings.append(f"{text}, so the API server could not validate the errand")
        else:
            self.problems.append(f"{text}. Create it first")


def _rehearse_job(
    cluster: Cluster, errand: Errand, findings: _PreflightFindings, *, runs_here: bool, holder_image: str
) -> None:
    built = job_of_next_run(ErrandView(errand, datetime.now(UTC)))
    findings.warnings += built.warnings
    job = job_with_output(built.job, errand, holder_image)
    # The errand may not exist yet, and then it has no uid.
    job["metadata"].pop("ownerReferences")
    job["metadata"]["name"] = job_name(errand.key.name, _NO_RUN)
    try:
        cluster.create(job, dry_run=True)
    except AlreadyExists:
        # The server validated it before it found that.
        pass
    except NotFound:
        findings.add_missing_namespace(errand)
    except Invalid as refusal:
        findings.problems.append(f"the API server refuses its Job: {one_line(refusal.api_message)}")
    except Forbidden as refusal:
        _add_refusal(cluster, errand, findings, refusal, runs_here=runs_here)


def _add_refusal(
    cluster: Cluster, errand: Errand, findings: _PreflightFindings, refusal: ApiError, *, runs_here: bool
) -> None:
    text = one_line(refusal.api_message)
    if not missing_rights(cluster, {Right("create", "batch", "jobs", errand.key.namespace)}):
        # An admission plugin, such as a quota, may accept it later.
        findings.problems.append(f"the API server refuses its Job: {text}")
    elif not runs_here:
        warning = f"the API server has not validated its Job, as you may not create Jobs: {text}"
        findings.warnings.append(warning)
