# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads the output of a run, and writes the Secrets that hold it. No message has any of its content."""

from __future__ import annotations

import base64
import time
from collections import Counter
from collections.abc import Callable, Container, Sequence
from functools import partial

from .._cluster.cluster import Cluster, Object
from .._cluster.errors import ClusterError, ExecOutputTooLarge, ExecTimeout, Forbidden, Invalid
from .._cluster.owner_references import is_owned_by
from .._custom_resources.events import EventNote
from .._jobs.version_pruning import foreign_warning
from .._jobs.version_writer import errors_without_values
from .._text import one_line
from .._threads import map_in_threads
from .errand_index import SECRET, ErrandIndex
from .errand_model import Errand, OutputFile, OutputNote, OutputSource, owner_reference
from .holding_container import RecordedOutput, read_command
from .output import (
    MOST_PARTS,
    NAMESPACE_DELETED,
    SECRET_REFUSED,
    SECRET_TAKEN,
    TIMED_OUT,
    TOO_LARGE,
    OutputRefused,
    OutputSecret,
    output_secrets,
    read_contents,
    read_problem,
    termination_messages,
)
from .slow_namespaces import SlowNamespaces
from .versions.errand_users import errand_users
from .versions.output_versions import WRITES_AT_ONCE, OutputVersions, refuse_dying

READ_SECONDS = 5.0
"""How long the output of a run may take to be read, all files together: a worker waits for it."""
READ_TRIES = 6
"""After so many that took too long, a run fails. Until then its node may only be busy."""
SHORTEST_SECONDS = 0.1
LARGEST_OUTPUT = 8 * 1024 * 1024
"""Bytes of all files of a run: as many as their volume has, and sparse files could have more."""
LONGEST_NOTE = 10_000
"""Characters of the warnings about an output."""
HEADER_BYTES = 100
"""Bytes before each content in the answer of reading."""


class OutputCollector:
    """Reads outputs and writes Secrets.

    Args:
        cluster: the live one.
        index: of its errands, which may refer to versions.
        slow: gets the errands whose output could not be read in time, or took as long to be written.
        report: reports on an errand to people.
    """

    def __init__(
        self,
        cluster: Cluster,
        index: ErrandIndex,
        slow: SlowNamespaces,
        report: Callable[[Errand, EventNote], None],
    ) -> None:
        self._cluster = cluster
        self._report = report
        self._index = index
        self._slow = slow
        self._timeouts: Counter[str] = Counter()

    def collect(self, errand: Errand, pod: Object, output: RecordedOutput) -> OutputNote:
        """Read the output in a pod, and write its Secrets. All checks come before the first write.

        Raises:
            ClusterError: the server or the pod does not answer; a retry is possible.
        """
        end = time.monotonic() + READ_SECONDS
        try:
            contents = self._contents(pod, output)
            secrets = output_secrets(output.spec, contents, errand.key.name)
            versions = self._versions_of(errand, output.spec.overwrites)
            foreign = {
                secret.name
                for secret in secrets
                if not secret.is_versioned
                and self._is_foreign(errand, secret, overwrites=output.spec.overwrites)
            }
            versions.refuse_taken(secret for secret in secrets if secret.is_versioned)
            written = map_in_threads(
                lambda secret: self._write(errand, secret, versions, foreign), secrets, WRITES_AT_ONCE
            )
            pruned = versions.prune()
        except OutputRefused as refusal:
            return OutputNote(reason=refusal.reason, message=str(refusal))
        except ExecTimeout:
            self._slow.add(errand.key)
            return self._timed_out(pod["metadata"]["uid"])
        except Forbidden as refusal:
            if not any(cause.reason == NAMESPACE_DELETED for cause in refusal.causes):
                raise
            text = f"Namespace {errand.key.namespace} is being deleted, so its output becomes no Secret"
            return OutputNote(reason=NAMESPACE_DELETED, message=text)
        finally:
            # Also where a node does not answer at all, or where there are very many Secrets.
            if time.monotonic() >= end:
                self._slow.add(errand.key)
        names, warnings, news = zip(*written, strict=True) if written else ((), (), ())
        stayed = pruned.failure or foreign_warning(errand.key.namespace, pruned.foreign)
        odd = [secret.warning for secret in secrets]
        message = " ".join(filter(None, (*odd, *warnings, stayed)))
        if len(message) > LONGEST_NOTE:
            message = one_line(message, LONGEST_NOTE)
        # An Event has the names of all.
        removed = pruned.removed[:MOST_PARTS]
        return OutputNote(names, message=message, pruned=removed, unchanged=news.count(False))

    def surplus(self, errand: Errand, output: RecordedOutput) -> tuple[str, ...]:
        """The Secrets of old versions that are deleted after an output was written, if it has changed."""
        return self._versions_of(errand, output.spec.overwrites).surplus(output.spec)

    def _versions_of(self, errand: Errand, overwrites: bool) -> OutputVersions:
        return OutputVersions(
            self._cluster,
            errand,
            overwrites=overwrites,
            more_users=lambda: errand_users(self._index.errands_in(errand.key.namespace)),
            announce=partial(self._report, errand),
        )

    def _contents(self, pod: Object, output: RecordedOutput) -> dict[tuple[str, str], bytes]:
        if output.spec.source is OutputSource.TERMINATION_MESSAGE:
            return termination_messages(output.spec, pod)
        end = time.monotonic() + READ_SECONDS
        contents: dict[tuple[str, str], bytes] = {}
        for container, holder in output.holders.items():
            files = [one for one in output.spec.files if one.container == container]
            left = LARGEST_OUTPUT - sum(map(len, contents.values()))
            outputs = self._read(pod, holder, files, end - time.monotonic(), left)
            contents |= {(container, one.file): content for one, content in zip(files, outputs, strict=True)}
        return contents

    def _read(
        self, pod: Object, holder: str, files: Sequence[OutputFile], seconds: float, most: int
    ) -> list[bytes]:
        """The contents of the files of a container, which are read by one command."""
        meta = pod["metadata"]
        try:
            answer = self._cluster.exec(
                meta["name"],
                meta["namespace"],
                read_command([one.file for one in files]),
                container=holder,
                seconds=max(SHORTEST_SECONDS, seconds),
                max_bytes=most + HEADER_BYTES * len(files),
            )
        except ExecOutputTooLarge:
            text = f"the output has more than {LARGEST_OUTPUT} bytes in all. Write less"
            raise OutputRefused(TOO_LARGE, text) from None
        self._timeouts.pop(meta["uid"], None)
        place = f"container {holder} of Pod {meta['namespace']}/{meta['name']}"
        contents = read_contents(answer.stdout, place)
        if answer.exit_code and len(contents) < len(files):
            raise read_problem(files[len(contents)], answer.exit_code)
        if len(contents) != len(files):
            raise ClusterError(f"read the output in {place}: the answer is incomplete; it is read again")
        return contents

    def _timed_out(self, uid: str) -> OutputNote:
        """What becomes of an output that could not be read in time, by the uid of its pod.

        Raises:
            ClusterError: it is tried again.
        """
        self._timeouts[uid] += 1
        text = f"the output can't be read within {READ_SECONDS:g} s"
        if self._timeouts[uid] < READ_TRIES:
            raise ClusterError(f"{text}: its node is busy, or it has many or large files") from None
        del self._timeouts[uid]
        text += f", tried {READ_TRIES} times. Write fewer or smaller files"
        return OutputNote(reason=TIMED_OUT, message=text)

    def _is_foreign(self, errand: Errand, secret: OutputSecret, *, overwrites: bool) -> bool:
        """Whether a Secret belongs to others and is overwritten all the same."""
        live = self._cluster.get("v1", "Secret", secret.name, errand.key.namespace)
        if live is None or is_owned_by(live, errand.uid):
            return False
        refuse_dying(self._cluster, errand, live)
        if not overwrites:
            raise OutputRefused(
                SECRET_TAKEN,
                f"Secret {secret.name} exists, and does not belong to this errand. Choose another name,"
                " delete the Secret, or set output.overwrite: true",
            )
        return True

    def _write(
        self, errand: Errand, secret: OutputSecret, versions: OutputVersions, foreign: Container[str]
    ) -> tuple[str, str, bool]:
        """Write a Secret; returns its name, a warning that is mostly empty, and whether anything changed."""
        try:
            if secret.is_versioned:
                return versions.write(secret)
            return self._apply(errand, secret, is_owned=secret.name not in foreign)
        except Invalid as refusal:
            text = one_line(refusal.api_message)
            raise OutputRefused(
                SECRET_REFUSED, f"Secret {secret.name}: the API server refuses it: {text}"
            ) from None

    def _apply(self, errand: Errand, secret: OutputSecret, *, is_owned: bool) -> tuple[str, str, bool]:
        # A Secret of others must not be deleted with the errand.
        owners = {"ownerReferences": [owner_reference(errand)]} if is_owned else {}
        obj = {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {
                "name": secret.name,
                "namespace": errand.key.namespace,
                "labels": dict(secret.labels),
                **({"annotations": dict(secret.annotations)} if secret.annotations else {}),
                **owners,
            },
            "type": "Opaque",
            # Not stringData: the server would not remove keys that the next run no longer has.
            "data": {key: base64.b64encode(text.encode()).decode() for key, text in secret.data.items()},
        }
        before = self._index.mark(SECRET[1], errand.key.namespace, secret.name)
        with errors_without_values(obj):
            applied = self._cluster.apply(obj, force=True)
        self._index.put(SECRET, applied)
        is_new = before is None or applied["metadata"].get("resourceVersion") != before.resource_version
        return secret.name, "", is_new
