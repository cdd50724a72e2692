# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The record of what is installed on a cluster: its definition, its model, reading and writing it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace
from typing import Annotated

from ..._cluster.cluster import API_VERSION, Cluster, Object
from ..._cluster.errors import Conflict, Forbidden, NotFound
from ..._custom_resources.conditions import Conditions, Time, new_condition
from ..._custom_resources.resource_kind import ResourceKind
from ..._errors import LifecycleError
from ..._field_notes import in_metadata, in_status
from ..._objects.inventory.inventory import Inventory, RecordVersion
from ..._objects.inventory.inventory_entry import short_hash
from ..._timestamp import timestamp
from ..outcomes import deployed_completely, not_deployed_completely
from .record_schema import STORAGE_VERSION, RolloutReference
from .record_writer import apply_record, patch_record, whole_status

INSTALLATION_NAME = "kyma"


@dataclass(frozen=True)
class Installation:
    """Which release a cluster has. Its uid and version are those of the record, to notice other writers.

    Its conditions are in the form of the record.
    """

    version: Annotated[str, in_status("The release that was last deployed completely. Empty for none.")] = ""
    target: Annotated[
        str, in_status("The release that is being deployed. It equals `version` if no deployment is open.")
    ] = ""
    profile: Annotated[str, in_status("The profile of the target.")] = ""
    digest: Annotated[
        str, in_status("A hash of the release of `version` as it was rendered, options included.")
    ] = ""
    components: Annotated[tuple[str, ...], in_status("The components of `version`.")] = ()
    last_run: Annotated[str, in_status("The name of the newest run.")] = ""
    definitions: Annotated[
        str, in_status("A hash of the definitions of records as they were last installed.")
    ] = ""
    resource_version: Annotated[str, in_metadata()] = ""
    uid: Annotated[str, in_metadata()] = ""
    conditions: Annotated[Conditions, in_status()] = field(default=(), compare=False)
    release_digest: Annotated[
        str,
        in_status(
            "A hash of the files of the release that was last deployed completely. It is the same on all"
            " clusters that have the release."
        ),
    ] = ""
    release_since: Annotated[
        Time,
        in_status(
            "When the first run of that release succeeded, or when a rollout found it on the cluster. By the"
            " clock of the cluster."
        ),
    ] = ""
    rollout: Annotated[
        RolloutReference,
        in_status(
            "The rollout of the newest run that the gate of a ring let begin. Runs by hand do not change it."
        ),
    ] = field(default_factory=RolloutReference)


INSTALLATION = ResourceKind(
    Installation,
    "KymaInstallation",
    "kymainstallations",
    "kyin",
    "Which release the cluster has. There is one, `kyma`.",
    [
        ("Version", "string", ".status.version"),
        ("Deployed", "string", '.status.conditions[?(@.type=="Deployed")].status'),
        ("Target", "string", ".status.target"),
        ("Profile", "string", ".status.profile"),
        ("Last run", "string", ".status.lastRun"),
    ],
    wide_columns=[
        ("Release digest", "string", ".status.releaseDigest"),
        ("Since", "string", ".status.releaseSince"),
    ],
    storage_version=STORAGE_VERSION,
    only_name=INSTALLATION_NAME,
    has_status=True,
    example=Installation(),
)


def installation_from(obj: Object | None) -> Installation:
    """The installation in a record; an empty installation if there is no record.

    Raises:
        NewerRecord: a newer version of this collection has written it.
    """
    return Installation() if obj is None else INSTALLATION.read(obj)


def basis_of(installation: Installation, inventories: Iterable[Inventory], identity: str = "") -> str:
    """A short form of a cluster's records: it differs as soon as anybody has deployed anything meanwhile.

    The adoption of a release is no deployment. So it does not count, nor does the record's
    ``resourceVersion``, which it changes.

    Args:
        installation, inventories: what is recorded.
        identity: which cluster it is, if the name of its newest run cannot identify it.
    """
    deployed = asdict(replace(installation, resource_version="", uid="", conditions=()))
    del deployed["release_digest"], deployed["release_since"]
    components = sorted((one.owner, one.details.get("version", ""), one.digest) for one in inventories)
    parts = [deployed, components, *filter(None, [identity])]
    return short_hash(json.dumps(parts))


def records_version(installation: Installation, parts: Iterable[RecordVersion]) -> str:
    """A short form of the versions of a cluster's records; empty if it has no record of an installation.

    Equal versions mean equal records. Different versions may still mean equal records: a plan's observations
    of objects are recorded without a deployment.

    Args:
        installation: as it is recorded.
        parts: the records of all inventories.
    """
    if not installation.uid:
        return ""
    versions = [installation.uid, installation.resource_version, sorted(map(list, parts))]
    return short_hash(json.dumps(versions))


class StaleInstallation(LifecycleError):
    """Another process has changed the installation since it was read."""


def write_installation(
    cluster: Cluster, installation: Installation, *, seen: Installation | None = None
) -> str:
    """Record which release the cluster has; the uid of the record.

    Args:
        cluster: the live one.
        installation: ``resource_version`` and ``uid`` are the precondition; if they are empty, there must be
            no record.
        seen: the record as it was read before, if it may be written although what no deployment writes, such
            as a label, has changed since.

    Raises:
        StaleInstallation: another process has created or changed it in the meantime.
    """
    recorded = replace(installation, conditions=(_deployed_condition(installation),))
    status = whole_status(INSTALLATION, INSTALLATION.object_of(recorded)["status"])
    try:
        precondition = {"uid": installation.uid, "resourceVersion": installation.resource_version}
        if not installation.uid:
            precondition = _create(cluster)
        answer = patch_record(
            cluster, INSTALLATION, INSTALLATION_NAME, "status", status, precondition=precondition
        )
        return str(answer["metadata"]["uid"])
    except (Conflict, NotFound) as conflict:
        now = read_installation(cluster) if seen else None
        if now and seen and _has_only_other_changes(seen, now):
            touched = replace(installation, resource_version=now.resource_version)
            return write_installation(cluster, touched, seen=now)
        raise StaleInstallation(
            "another deployment has begun on this cluster since the plan was made; check `kubectl get"
            " kymaruns`, then run the playbook again"
        ) from conflict


def _deployed_condition(installation: Installation) -> Object:
    """The condition ``Deployed``: whether the cluster has all of its target release."""
    version, target = installation.version, installation.target
    more = f"`kubectl get kyrun {installation.last_run} -o wide`"
    if version and version == target and installation.release_digest:
        status, reason, message = "True", "Deployed", deployed_completely(version)
    elif version and version == target:
        text = f"{deployed_completely(version)}, and a deployment with other files has begun since. {more}"
        status, reason, message = "False", "OtherFiles", text
    elif target:
        status, reason, message = "False", "Incomplete", f"{not_deployed_completely(target)}. {more}"
    else:
        status, reason, message = "False", "NothingDeployed", "no release was deployed"
    return new_condition("Deployed", status, reason, message, before=installation.conditions, now=timestamp())


def _has_only_other_changes(seen: Installation, now: Installation) -> bool:
    """Whether a record was written in the meantime, but no field that deployments write has changed."""
    deployed, still = (replace(one, resource_version="") for one in (seen, now))
    return deployed == still and seen.resource_version != now.resource_version


def _create(cluster: Cluster) -> dict[str, str]:
    """Create the record of the installation, without a status; its uid and resourceVersion.

    It is applied, because an API server keeps a POST waiting for two seconds while the CRD is new. Of two
    runs that do so at once, the first one to write the status changes the version that the other one has.

    Raises:
        Conflict: another run has created it, and written the status.
    """
    record = {"apiVersion": API_VERSION, "kind": "KymaInstallation", "metadata": {"name": INSTALLATION_NAME}}
    created = apply_record(cluster, INSTALLATION, record)
    if created.get("status"):
        raise Conflict(
            f"create KymaInstallation {INSTALLATION_NAME}", status=409, api_message="another run was quicker"
        )
    return {key: str(created["metadata"][key]) for key in ("uid", "resourceVersion")}


def read_installation(cluster: Cluster) -> Installation:
    """Which release the cluster has; an empty installation if nothing is recorded."""
    return installation_from(cluster.get(API_VERSION, "KymaInstallation", INSTALLATION_NAME))


def basis_in(cluster: Cluster, installation: Installation, inventories: Iterable[Inventory]) -> str:
    """A short form of a cluster's records; see :func:`basis_of`.

    All clusters without a recorded run have the same records, so their identity distinguishes them.
    """
    return basis_of(installation, inventories, "" if installation.last_run else identity_of(cluster))


def identity_of(cluster: Cluster) -> str:
    """The uid of the namespace that every cluster has; empty for a user who may not read it."""
    try:
        namespace = cluster.get("v1", "Namespace", "kube-system")
    except Forbidden:
        return ""
    return str(namespace["metadata"].get("uid", "")) if namespace else ""
