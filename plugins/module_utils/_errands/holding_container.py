# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Holding containers: they keep the output of a Job's containers readable until it is read. Pure.

A holding container is an ordinary container. Kubernetes ends a native sidecar with the main container, and
the Job completes with any exit code. There is one for each container with output, as other users may not read
it.
"""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

from .._cluster.cluster import GROUP, Object
from .._errors import LifecycleError
from .._field_notes import described
from .._loose_json import mapping_of
from .._record_codec import from_record, to_record
from .errand_model import Errand, OutputSource, OutputSpec

DEFAULT_IMAGE = "docker.io/library/busybox:1.37"
"""Needs sh, cat, head, rm, sha256sum, sleep, stat, test, timeout and touch."""
OUTPUT_FOLDER = "/mnt/quarks"
"""Where a container writes its output."""
VOLUME_PREFIX, HOLDER_PREFIX = "kyma-output-", "hold-"
VOLUME_SIZE, HOLD_SIZE = "8Mi", "3Mi"
"""Sizes of the volume with the output, and of the one with the copy of a file that is read."""
GRACE_SECONDS = 30
"""Seconds that a pod gets to end, so that its output can be read if it is deleted meanwhile."""
UNPRIVILEGED_USER = 65534
LONGEST_CONTAINER_NAME = 63
_HASH_LENGTH = 8

OUTPUT_ANNOTATION = f"{GROUP}/output"
"""On Jobs and pods: the output as it was wanted when the Job was made, its containers and their deadline."""

GIVEN_UP, RELEASED = 3, 0
"""The exit codes of a holding container."""
MISSING, IRREGULAR, TOO_LARGE, UNREADABLE, TIMED_OUT = 10, 11, 12, 13, 14
"""The exit codes of reading, beside 0."""
LARGEST_FILE = 1024 * 1024
"""Bytes of an output file, as of a Secret."""
READ_SECONDS = 3
"""How long the reading of a file may take in the container: less than the engine waits for it."""

_HELD, _HOLD = "/output", "/hold"
_TOKEN_FOLDER = "/var/run/secrets/kubernetes.io/serviceaccount"
"""The API server mounts no token where something is mounted already."""

HOLD_SCRIPT = f"""
trap '' TERM
seconds=$1
shift
left=
while [ ! -e {_HOLD}/released ]; do
  for file in {_HOLD}/renewed "$@"; do
    if [ -e "$file" ] && {{ [ ! -e {_HOLD}/counted ] || [ "$file" -nt {_HOLD}/counted ]; }}; then
      touch {_HOLD}/counted
      left=$seconds
    fi
  done
  if [ -n "$left" ]; then
    [ "$left" -gt 0 ] || exit {GIVEN_UP}
    left=$((left - 1))
  fi
  sleep 1
done
exit {RELEASED}
"""
"""Waits until it is released. Its time begins when the newest output was written, or when it was renewed."""

READ_SCRIPT = f"""
copy={_HOLD}/copy.$$
for name in "$@"; do
  file="{_HELD}/$name"
  [ ! -h "$file" ] || exit {IRREGULAR}
  [ -e "$file" ] || exit {MISSING}
  [ -f "$file" ] || exit {IRREGULAR}
  size=$(stat -c %s "$file") || exit
  [ "$size" -le {LARGEST_FILE} ] || exit {TOO_LARGE}
  timeout -s KILL {READ_SECONDS} head -c {LARGEST_FILE + 1} "$file" > "$copy" 2> /dev/null
  code=$?
  size=$(stat -c %s "$copy") && sum=$(sha256sum < "$copy") || exit
  case $code in
    0) [ "$size" -le {LARGEST_FILE} ] || code={TOO_LARGE} ;;
    124 | 137) code={TIMED_OUT} ;;
    126 | 127) ;;
    *) code={UNREADABLE} ;;
  esac
  [ "$code" -ne 0 ] || {{ echo "$size ${{sum%% *}}" && cat "$copy"; }} || code=$?
  rm -f "$copy"
  [ "$code" -eq 0 ] || exit "$code"
done
"""
"""Prints size and SHA-256 of each file on a line, and then the file. It ends at the first one with a problem.

The size is asked first, as a sparse file costs its author nothing and its reader much time. What is read is a
copy: what a file becomes meanwhile, even a pipe, neither blocks the reader nor leaves a process behind.
"""


def read_command(files: Sequence[str]) -> list[str]:
    """The command that prints output files, for a holding container."""
    return ["sh", "-c", READ_SCRIPT, "read", *files]


RELEASE_COMMAND = ["touch", f"{_HOLD}/released"]
"""Lets a holding container end."""
RENEW_COMMAND = ["touch", f"{_HOLD}/renewed"]
"""Lets the time of a holding container begin again."""


@dataclass(frozen=True)
class RecordedOutput:
    """The output that was wanted when a Job or its pod was created, as recorded in it.

    Its containers are those of the errand's template. Others in a pod hold output, or were injected. They may
    run until the deadline, in seconds; 0 is no limit. The rest is of the errand when the Job was created.
    """

    spec: Annotated[OutputSpec, described(name="output")] = field(default_factory=OutputSpec)
    containers: tuple[str, ...] = ()
    deadline: int = 0
    generation: int = 0
    template_digest: str = ""
    errand_uid: str = ""

    @property
    def holders(self) -> dict[str, str]:
        """The holding containers, by the container whose output they hold."""
        return {name: holder_name(name) for name in self.spec.containers} if self.spec.is_held else {}


def holder_name(container: str) -> str:
    """The name of the container that holds the output of another container."""
    name = f"{HOLDER_PREFIX}{container}"
    if len(name) <= LONGEST_CONTAINER_NAME:
        return name
    # Two long names may differ only at their ends.
    digest = hashlib.sha256(container.encode()).hexdigest()[:_HASH_LENGTH]
    return f"{name[: LONGEST_CONTAINER_NAME - _HASH_LENGTH - 1].rstrip('-')}-{digest}"


def job_with_output(job: Object, errand: Errand, image: str) -> Object:
    """A Job whose output can be read.

    Args:
        job: as its template has it.
        errand: the owner.
        image: of holding containers.
    """
    job, spec = copy.deepcopy(job), errand.spec.output
    job_spec, pod = job["spec"], job["spec"]["template"]["spec"]
    limited = [one for one in (job_spec, pod) if one.get("activeDeadlineSeconds")]
    recorded = RecordedOutput(
        errand.spec.output,
        tuple(one["name"] for one in pod["containers"]),
        min((int(one["activeDeadlineSeconds"]) for one in limited), default=0),
        errand.generation,
        errand.spec.template_digest,
        errand.uid,
    )
    record = json.dumps(to_record(recorded, is_compact=True), sort_keys=True)
    for metadata in (job["metadata"], job_spec["template"].setdefault("metadata", {})):
        metadata["annotations"] = {**mapping_of(metadata.get("annotations")), OUTPUT_ANNOTATION: record}
    if spec.source is OutputSource.TERMINATION_MESSAGE:
        _send_as_termination_message(pod, spec)
    if not spec.is_held:
        return job
    for one in limited:
        one["activeDeadlineSeconds"] = int(one["activeDeadlineSeconds"]) + spec.hold_seconds
    grace = pod.get("terminationGracePeriodSeconds")
    if grace is not None:
        pod["terminationGracePeriodSeconds"] = max(GRACE_SECONDS, int(grace))
    holders = []
    for index, name in enumerate(spec.containers):
        container = next(one for one in pod["containers"] if one["name"] == name)
        volume = f"{VOLUME_PREFIX}{index}"
        medium = {"medium": "Memory", "sizeLimit": VOLUME_SIZE}
        # A field that is written and empty is null.
        pod["volumes"] = [*(pod.get("volumes") or ()), {"name": volume, "emptyDir": medium}]
        mount = {"name": volume, "mountPath": OUTPUT_FOLDER}
        container["volumeMounts"] = [*(container.get("volumeMounts") or ()), mount]
        files = [one.file for one in spec.files if one.container == name]
        hold = f"{VOLUME_PREFIX}hold-{index}"
        pod["volumes"].append({"name": hold, "emptyDir": {"medium": "Memory", "sizeLimit": HOLD_SIZE}})
        holders.append(_holder(container, pod, (volume, hold), files, spec.hold_seconds, image))
    pod["containers"].extend(holders)
    return job


def _send_as_termination_message(pod: Object, spec: OutputSpec) -> None:
    for container in pod["containers"]:
        for one in spec.files:
            if one.container == container["name"]:
                container.setdefault("terminationMessagePath", f"{OUTPUT_FOLDER}/{one.file}")
                # With FallbackToLogsOnError, the end of the log would become the output.
                container["terminationMessagePolicy"] = "File"


def _holder(
    container: Mapping[str, Any],
    pod: Mapping[str, Any],
    volumes: tuple[str, str],
    files: Sequence[str],
    seconds: int,
    image: str,
) -> Object:
    volume, hold = volumes
    return {
        "name": holder_name(container["name"]),
        "image": image,
        "imagePullPolicy": "IfNotPresent",
        "command": ["sh", "-c", HOLD_SCRIPT, "hold", str(seconds), *(f"{_HELD}/{file}" for file in files)],
        "volumeMounts": [
            {"name": volume, "mountPath": _HELD, "readOnly": True},
            {"name": hold, "mountPath": _HOLD},
            {"name": hold, "mountPath": _TOKEN_FOLDER},
        ],
        "resources": {
            "requests": {"cpu": "5m", "memory": "16Mi"},
            "limits": {"cpu": "100m", "memory": "32Mi"},
        },
        "securityContext": _security_context(container, pod),
    }


def _security_context(container: Mapping[str, Any], pod: Mapping[str, Any]) -> Object:
    """The security context of a holding container: the user of the container, limited to ``restricted``."""
    user = {**(pod.get("securityContext") or {}), **(container.get("securityContext") or {})}
    context: Object = {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
        "readOnlyRootFilesystem": True,
        "seccompProfile": {"type": "RuntimeDefault"},
    }
    context |= {key: user[key] for key in ("runAsUser", "runAsGroup", "runAsNonRoot") if key in user}
    if user.get("runAsNonRoot") and "runAsUser" not in user:
        context["runAsUser"] = UNPRIVILEGED_USER
    return context


def recorded_output(obj: Mapping[str, Any]) -> RecordedOutput:
    """The output that a Job or a pod records.

    Raises:
        LifecycleError: the record was changed, so that its wanted output is unknown.
    """
    meta = obj["metadata"]
    text = (meta.get("annotations") or {}).get(OUTPUT_ANNOTATION)
    if not text:
        return RecordedOutput()
    try:
        record = json.loads(text)
        recorded = from_record(RecordedOutput, record)
        if to_record(recorded, is_compact=True) != record:
            raise ValueError
    except ValueError:
        kind = str(obj.get("kind") or "Pod")
        name = f"{meta.get('namespace')}/{meta['name']}"
        raise LifecycleError(
            f"{kind} {name}: its annotation {OUTPUT_ANNOTATION} was changed, and can't be read. Delete the"
            f" {kind}:\n  kubectl delete {kind.lower()} -n {meta.get('namespace')} {meta['name']}"
        ) from None
    return recorded
