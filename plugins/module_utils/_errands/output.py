# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The Secrets that hold the output of containers: pure. No message has any of the content."""

from __future__ import annotations

import codecs
import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from .._cluster.errors import ClusterError
from .._errors import LifecycleError
from .._jobs.secret_validation import is_data_key, is_object_name
from .._jobs.versioned_secrets import split_versioned_name
from .errand_model import OutputFile, OutputSource, OutputSpec
from .holding_container import LARGEST_FILE, OUTPUT_FOLDER

CONTAINER_LABEL = "quarks.cloudfoundry.org/container-name"
"""On Secrets: the container that has written them."""

MISSING, INVALID, TOO_LARGE = "OutputMissing", "OutputInvalid", "OutputTooLarge"
TRUNCATED, IRREGULAR, UNREADABLE = "OutputTruncated", "OutputIrregular", "OutputUnreadable"
LOST, TIMED_OUT, SECRET_TAKEN = "OutputLost", "OutputTimedOut", "SecretTaken"
SECRET_REFUSED, NAMESPACE_DELETED = "SecretRefused", "NamespaceTerminating"
"""Why an output does not become Secrets."""

MESSAGE_BYTES, ALL_MESSAGES_BYTES = 4096, 12 * 1024
"""What the kubelet keeps of the termination message of a container, and of those of a pod, without a mark."""
VERSION_ROOM = 12
"""Characters that the number of a version may take in a name."""
MOST_PARTS = 1000
"""Secrets that a fan-out may become: the status names each of them, and two requests write one."""


class OutputRefused(LifecycleError):
    """An output can't become Secrets.

    Attributes:
        reason: one of those above.
    """

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


@dataclass(frozen=True)
class OutputSecret:
    """A Secret that holds an output.

    Attributes:
        name: its name, or the base of the names of its versions.
        data: its values.
        labels, annotations: its metadata.
        is_versioned: whether a new content becomes a new Secret.
        keep, keep_seconds: see :class:`~.errand_model.OutputFile`.
        source: the errand and the container, for people.
        warning: what its readers may not expect; mostly empty.
    """

    name: str
    data: Mapping[str, str] = field(repr=False)
    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    is_versioned: bool = False
    keep: int = 0
    keep_seconds: int = 0
    source: str = ""
    warning: str = ""


def output_secrets(
    spec: OutputSpec, contents: Mapping[tuple[str, str], bytes], errand: str
) -> list[OutputSecret]:
    """The Secrets for the output of a run.

    Args:
        spec: what happens to the output.
        contents: of each file, by container and file.
        errand: its name, for the source of versions.

    Raises:
        OutputRefused: one of the files is no JSON object of strings, or would be an invalid Secret.
    """
    parts = [
        secret
        for one in spec.files
        for secret in _secrets_of(one, spec, contents[one.container, one.file], errand)
    ]
    if len(parts) > max(MOST_PARTS, len(spec.files)):
        raise OutputRefused(
            TOO_LARGE, f"the output would become {len(parts)} Secrets, and at most {MOST_PARTS} are written"
        )
    if len({secret.name for secret in parts}) < len(parts):
        raise OutputRefused(INVALID, "two parts of the output would become the same Secret")
    return parts


def _secrets_of(file: OutputFile, spec: OutputSpec, content: bytes, errand: str) -> Iterator[OutputSecret]:
    place = f"file {file.file} of container {file.container}"
    values = _texts(content, place)
    parts = {file.secret: values}
    if file.is_fan_out:
        if len(values) > MOST_PARTS:
            raise OutputRefused(
                TOO_LARGE,
                f"{place} has {len(values)} keys, and a fan-out becomes at most {MOST_PARTS} Secrets. Write"
                " fewer keys, or set persistenceMethod: one-to-one",
            )
        parts = {
            f"{file.secret}-{key}": _texts(text.encode(), f"value {number} of {place}")
            for number, (key, text) in enumerate(values.items(), 1)
        }
    for number, (name, data) in enumerate(parts.items(), 1):
        if not is_object_name(name if not file.is_versioned else f"{name}{'x' * VERSION_ROOM}"):
            raise OutputRefused(
                INVALID,
                f"{place}: key {number} makes no valid name of a Secret, {file.secret}-<key>. Use lower-case"
                " letters, digits and '-'",
            )
        if file.is_versioned and split_versioned_name(name):
            raise OutputRefused(
                INVALID,
                f"{place}: key {number} makes the name of a version, {file.secret}-<key>. Use a key that does"
                " not end with -v and a number",
            )
        yield OutputSecret(
            name,
            data,
            {**spec.labels, **file.labels, CONTAINER_LABEL: file.container},
            file.annotations,
            file.is_versioned,
            file.keep,
            file.keep_seconds,
            source=f"Errand {errand}, container {file.container}",
            warning=_warning(data, f"part {number} of {place}" if file.is_fan_out else place),
        )


def _texts(content: bytes, place: str) -> dict[str, str]:
    """A JSON object of strings, with keys that a Secret may have."""
    # Those of UTF-32 begin like one of UTF-16, or with zeros.
    marks = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_BE)
    if content.startswith(marks):
        raise OutputRefused(
            INVALID, f"{place} begins with a byte order mark (BOM). Write it as UTF-8 without that mark"
        )

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        keys = set[str]()
        for number, (key, _value) in enumerate(pairs, 1):
            if key in keys:
                raise OutputRefused(
                    INVALID, f"{place}: key {number} of it repeats an earlier one. Write each key once"
                )
            keys.add(key)
        return dict(pairs)

    try:
        values = json.loads(content.decode("utf-8"), object_pairs_hook=unique)
    except (ValueError, RecursionError):
        raise OutputRefused(INVALID, f"{place} is not valid JSON") from None
    if not isinstance(values, dict):
        raise OutputRefused(INVALID, f"{place} is no JSON object")
    # Keys are content, too: a number identifies the key.
    for number, (key, value) in enumerate(values.items(), 1):
        if not is_data_key(key):
            raise OutputRefused(
                INVALID,
                f"{place}: a Secret can't have key {number} of it. Use letters, digits, '-', '_' and '.', and"
                " no '..' at the beginning",
            )
        if not isinstance(value, str):
            raise OutputRefused(INVALID, f"{place}: value {number} of it is not a string. Quote it")
        if not _is_unicode(value):
            raise OutputRefused(INVALID, f"{place}: value {number} of it has half of a surrogate pair")
    if sum(len(value.encode()) for value in values.values()) > LARGEST_FILE:
        raise OutputRefused(TOO_LARGE, f"{place} has more than the {LARGEST_FILE} bytes of a Secret")
    return values


def _warning(data: Mapping[str, str], place: str) -> str:
    number = next((number for number, value in enumerate(data.values(), 1) if "\0" in value), 0)
    text = (
        f"{place}: value {number} of it has a NUL character (\\u0000). No environment variable can have it."
    )
    return text if number else ""


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def termination_messages(spec: OutputSpec, pod: Mapping[str, Any]) -> dict[tuple[str, str], bytes]:
    """The contents of an output that is read from termination messages.

    Args:
        spec: what happens to the output.
        pod: with its status.

    Raises:
        OutputRefused: one is missing, or may have been cut by the kubelet.
    """
    fields = ("initContainers", "containers", "ephemeralContainers")
    count = sum(len((pod.get("spec") or {}).get(one) or ()) for one in fields)
    limit = min(MESSAGE_BYTES, ALL_MESSAGES_BYTES // max(1, count))
    statuses = (pod.get("status") or {}).get("containerStatuses") or ()
    ended = {one["name"]: (one.get("state") or {}).get("terminated") or {} for one in statuses}
    contents = {}
    for file in spec.files:
        content = str(ended.get(file.container, {}).get("message") or "").encode()
        if not content:
            raise OutputRefused(MISSING, f"container {file.container} has written no termination message")
        if len(content) >= limit:
            raise OutputRefused(
                TRUNCATED,
                f"the termination message of container {file.container} has {limit} bytes or more, where the"
                f" kubelet cuts it. Write less, or set output.from: {OutputSource.EXEC}",
            )
        contents[file.container, file.file] = content
    return contents


READ_PROBLEMS: Mapping[int, tuple[str, str]] = {
    10: (MISSING, "was not written"),
    11: (IRREGULAR, "is no regular file; links, pipes and folders are not read"),
    12: (TOO_LARGE, f"has more than {LARGEST_FILE} bytes"),
    13: (
        UNREADABLE,
        "can't be read by the holding container, which is another user. Set securityContext.runAsUser of the"
        " container, or let it write the file readable for all",
    ),
    14: (TIMED_OUT, "can't be read in time"),
    127: (
        UNREADABLE,
        "can't be read, as the image of the holding container lacks a program: it needs stat, timeout, head,"
        " sha256sum, cat and rm. Set kyma_errand_holder_image to one that has them",
    ),
}
"""What the exit codes of reading mean: the reason, and what is wrong with the file."""


def read_contents(answer: bytes, place: str) -> list[bytes]:
    """The contents in the answer of reading: before each is a line with its size and SHA-256.

    Args:
        answer: what the command has printed.
        place: where it ran, for people.

    Raises:
        ClusterError: the answer is damaged; a retry is possible.
    """
    contents = []
    while answer:
        header, _newline, rest = answer.partition(b"\n")
        size, _space, digest = header.decode("ascii", "replace").partition(" ")
        length = int(size) if size.isdecimal() else len(rest) + 1
        content, answer = rest[:length], rest[length:]
        if len(content) != length or digest != hashlib.sha256(content).hexdigest():
            raise ClusterError(f"read the output in {place}: the answer is damaged; it is read again")
        contents.append(content)
    return contents


def read_problem(file: OutputFile, exit_code: int) -> OutputRefused:
    """Why a file could not be read in its holding container, by the exit code of the command."""
    reason, text = READ_PROBLEMS.get(exit_code, (UNREADABLE, f"can't be read: exit code {exit_code}"))
    return OutputRefused(reason, f"file {OUTPUT_FOLDER}/{file.file} of container {file.container} {text}")
