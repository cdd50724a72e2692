# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads the output of a run, and writes the Secrets that hold it. No message has any of its content."""

from __future__ import annotations

import base64
import time
from collections import Counter
from collections.abc import Container, Sequence

from .._cluster.cluster import Cluster, Object
from .._cluster.errors import ClusterError, ExecOutputTooLarge, ExecTimeout, Invalid
from .._cluster.owner_references import is_owned_by, owners_in
from .._errors import LifecycleError
from .._jobs.pod_references import SECRET, pod_references
from .._jobs.version_writer import VersionContent, errors_without_values, foreign_warning, write_version
from .._text import one_line
from .errand_index import ErrandIndex
from .errand_model import KIND, Errand, OutputFile, OutputNote, OutputSource, owner_reference
from .holding_container import RecordedOutput, read_command
from .output import (
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

SECRET_REFUSED = "SecretRefused"
READ_SECONDS = 5.0
"""How long the output of a run may take to be read, all files together: a worker waits for it."""
READ_TRIES = 6
"""After so many that took too long, a run fails. Until then its node may only be busy."""
SHORTEST_SECONDS = 0.1
LARGEST_OUTPUT = 8 * 1024 * 1024
"""Bytes of all files of a run: as many as their volume has, and sparse files could have more."""
HEADER_BYTES = 100
"""Bytes before each content in the answer of reading."""


class OutputCollector:
    """Reads outputs and writes Secrets.

    Args:
        cluster: the live one.
        index: of its errands, which may refer to versions.
        slow: gets the namespaces whose output could not be read in time, or took as long to be written.
    """

    def __init__(self, cluster: Cluster, index: ErrandIndex, slow: SlowNamespaces) -> None:
        self._cluster = cluster
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
            overwrites = output.spec.overwrites
            foreign = {
                secret.name
                for secret in secrets
                if not secret.is_versioned and self._is_foreign(errand, secret, overwrites=overwrites)
            }
            written = [self._write(errand, secret, foreign) for secret in secrets]
        except OutputRefused as refusal:
            return OutputNote(reason=refusal.reason, message=str(refusal))
        finally:
            # Also where a node does not answer at all, or where there are very many Secrets.
            if time.monotonic() >= end:
                self._slow.add(errand.key.namespace)
        names, warnings = zip(*written, strict=True) if written else ((), ())
        return OutputNote(names, message=" ".join(filter(None, warnings)))

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
        except ExecTimeout:
            raise self._timeout(pod) from None
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

    def _timeout(self, pod: Object) -> LifecycleError:
        """A failure to read in time: the run ends by the last of them."""
        uid = pod["metadata"]["uid"]
        self._slow.add(pod["metadata"]["namespace"])
        self._timeouts[uid] += 1
        text = f"the output can't be read within {READ_SECONDS:g} s"
        if self._timeouts[uid] < READ_TRIES:
            return ClusterError(f"{text}: its node is busy, or it has many or large files")
        del self._timeouts[uid]
        return OutputRefused(TIMED_OUT, f"{text}, tried {READ_TRIES} times. Write fewer or smaller files")

    def _is_foreign(self, errand: Errand, secret: OutputSecret, *, overwrites: bool) -> bool:
        """Whether a Secret belongs to others and is overwritten all the same."""
        live = self._cluster.get("v1", "Secret", secret.name, errand.key.namespace)
        if live is None or is_owned_by(live, errand.uid):
            return False
        _refuse_of_earlier_errand(errand, secret.name, live)
        if not overwrites:
            raise OutputRefused(
                SECRET_TAKEN,
                f"Secret {secret.name} exists, and does not belong to this errand. Choose another name,"
                " delete the Secret, or set output.overwrite: true",
            )
        return True

    def _write(self, errand: Errand, secret: OutputSecret, foreign: Container[str]) -> tuple[str, str]:
        """Write a Secret; returns its name, and a warning that is mostly empty."""
        try:
            if secret.is_versioned:
                return self._write_version(errand, secret)
            return self._apply(errand, secret, is_owned=secret.name not in foreign), ""
        except Invalid as refusal:
            text = one_line(refusal.api_message)
            raise OutputRefused(
                SECRET_REFUSED, f"Secret {secret.name}: the API server refuses it: {text}"
            ) from None

    def _apply(self, errand: Errand, secret: OutputSecret, *, is_owned: bool) -> str:
        # A Secret of others must not be deleted with the errand.
        owners = {"ownerReferences": [owner_reference(errand)]} if is_owned else {}
        obj = {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {
                "name": secret.name,
                "namespace": errand.key.namespace,
                "labels": dict(secret.labels),
                "annotations": dict(secret.annotations),
                **owners,
            },
            "type": "Opaque",
            # Not stringData: the server would not remove keys that the next run no longer has.
            "data": {key: base64.b64encode(text.encode()).decode() for key, text in secret.data.items()},
        }
        with errors_without_values(obj):
            self._cluster.apply(obj, force=True)
        return secret.name

    def _write_version(self, errand: Errand, secret: OutputSecret) -> tuple[str, str]:
        try:
            written = write_version(
                self._cluster,
                VersionContent(
                    errand.key.namespace,
                    secret.name,
                    secret.data,
                    secret.labels,
                    secret.annotations,
                    secret.source,
                    owner_reference(errand),
                ),
                keep=secret.keep or None,
                more_users=lambda: self._users(errand.key.namespace),
            )
        except ClusterError:
            raise
        except LifecycleError as refusal:
            raise OutputRefused(SECRET_REFUSED, one_line(refusal)) from None
        if not written.is_new:
            _refuse_of_earlier_errand(errand, written.name, written.secret)
        return written.name, written.prune_failure or foreign_warning(errand.key.namespace, written.foreign)

    def _users(self, namespace: str) -> dict[str, tuple[str, ...]]:
        """The Secrets that errands refer to: in templates, and in the configuration of their last runs."""
        users: dict[str, tuple[str, ...]] = {}
        for errand in self._index.errands_in(namespace):
            references = pod_references(errand.spec.pod_template)
            names = [one.name for one in references if one.kind == SECRET]
            run = errand.status.run
            names += [one.resolved_name for one in run.configuration if one.kind == SECRET] if run else []
            for name in names:
                users[name] = (*users.get(name, ()), str(errand.key))
        return users


def _refuse_of_earlier_errand(errand: Errand, name: str, secret: Object) -> None:
    """Wait until the garbage collector has deleted what an earlier errand of the same name owned."""
    mark = (KIND, errand.key.name)
    same = [one for one in owners_in(secret) if (one.get("kind"), one.get("name")) == mark]
    if same and not is_owned_by(secret, errand.uid):
        raise ClusterError(
            f"Secret {errand.key.namespace}/{name} belongs to an earlier errand of this name, and is being"
            " deleted with it"
        )
