# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The fence of a run: a token that the server refuses once the run's Secret is deleted.

A process that takes the lease over deletes that Secret. So it can be sure that the run before it writes no
more, even if that run's process believes otherwise. The fence is *advisory* if the user may not create such
tokens, or if the tokens lack rights that the run needs. Then only the run itself ensures that it writes only
while it holds the lease.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..._cluster.boot_clock import boot_clock
from ..._cluster.cluster import GROUP, Cluster, Object, WriteTerms
from ..._cluster.errors import ClusterError, Conflict, Forbidden, Invalid, NotFound
from ..._cluster.fence import FencedCluster
from ..._cluster.fields.written_by import is_written_by
from ..._objects.access.review import missing_rights
from ..._objects.access.rights import Right
from ..._objects.access.roles import in_words
from ..._text import first_of
from .held_lease import HeldLease
from .lease import LIFECYCLE_NAMESPACE

FENCE_LABEL = f"{GROUP}/fence"
REFUSED_AFTER_SECONDS = 12.0
"""When a token is refused after its Secret is deleted: API servers cache a valid token for ten seconds."""
TOKEN_SECONDS = 3600
REVIEW_SECONDS = 10.0
MOST_REPORTED = 3
"""How many of the missing rights a message lists."""


@dataclass(frozen=True)
class Fence:
    """What keeps a run from writing once it has lost its lease.

    Attributes:
        account: the ServiceAccount with whose tokens the run writes; empty if the fence is advisory.
        secret, uid: the Secret that the tokens are bound to.
        note: what a person should know: mostly why the fence is advisory.
    """

    account: str = ""
    secret: str = ""
    uid: str = ""
    note: str = ""

    @property
    def is_advisory(self) -> bool:
        """Whether only the run itself ensures that it writes only while it holds the lease."""
        return not self.secret


def fence_of(written: Mapping[str, Any]) -> Fence:
    """The fence according to a run's record."""
    return Fence(**{name: str(written.get(name) or "") for name in ("account", "secret", "uid", "note")})


def secret_for(run: str) -> Object:
    """The Secret of a run's tokens, without content."""
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": f"run-{run}", "namespace": LIFECYCLE_NAMESPACE, "labels": {FENCE_LABEL: run}},
        "type": f"{GROUP}/fence",
        "immutable": True,
    }


class RunToken:
    """The writes of a run with its own token. Usable from several threads.

    Args:
        cluster: the live one, as the current user.
        fence: of the run, with a Secret.

    Attributes:
        tenure: of the run; None before it holds the lease.
        writing: the cluster, written to with the token.
    """

    def __init__(self, cluster: Cluster, fence: Fence) -> None:
        self.tenure: HeldLease | None = None
        self._cluster = cluster
        self._fence = fence
        self._header = ""
        self._renew_at = 0.0
        self._lock = threading.Lock()
        self.writing = cluster.with_write_terms(
            WriteTerms(self._seconds_left, self.authorization, self._is_extension_pending)
        )

    def authorization(self, refused: str = "") -> str:
        """See :data:`~.cluster.Authorization`.

        Raises:
            LeaseLost: the run has lost its lease, and with it the right to tokens.
            ClusterError: the server does not answer, or issues no token for another reason.
        """
        with self._lock:
            if not self._header or refused == self._header or boot_clock() >= self._renew_at:
                self._header = f"Bearer {self._token()}"
                self._renew_at = boot_clock() + TOKEN_SECONDS / 2
            return self._header

    def _seconds_left(self) -> float:
        return self.tenure.seconds_left() if self.tenure else REVIEW_SECONDS

    def _is_extension_pending(self) -> bool:
        return self.tenure is not None and self.tenure.is_extension_pending()

    def _token(self) -> str:
        fence = self._fence
        secret = {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": fence.secret, "uid": fence.uid},
        }
        try:
            return self._cluster.token(
                fence.account, LIFECYCLE_NAMESPACE, bound_to=secret, seconds=TOKEN_SECONDS
            )
        except (NotFound, Conflict) as refusal:
            if self.tenure is None:
                raise
            # A lost lease is mostly the cause.
            self.tenure.renew()
            raise ClusterError(
                "the server refuses what this run writes, as the Secret"
                f" {LIFECYCLE_NAMESPACE}/{fence.secret}, or the ServiceAccount {fence.account}, is no longer"
                f" there: {refusal.api_message}. Run the playbook again"
            ) from refusal


class RaisedFence(NamedTuple):
    """A fence, and the token that was created to test it; None if the fence is advisory."""

    fence: Fence
    token: RunToken | None = None


def no_fence_reason(cluster: Cluster, account: str) -> str:
    """Why there can be no fence, according to one check of the account; empty if there may be one.

    Raises:
        ClusterError: the server does not answer.
    """
    if not account:
        return "no service account is named for it"
    try:
        service_account = cluster.get("v1", "ServiceAccount", account, LIFECYCLE_NAMESPACE)
    except Forbidden as refusal:
        return f"the user may not look for the account: {refusal.api_message}"
    return "" if service_account else f"there is no ServiceAccount {LIFECYCLE_NAMESPACE}/{account}"


def raise_fence(cluster: Cluster, run: str, account: str, rights: Collection[Right]) -> RaisedFence:
    """Create the fence of a run that is about to begin.

    Args:
        cluster: the live one, as the current user.
        run: its name.
        account: the ServiceAccount to write with.
        rights: what the run has to be allowed.

    Raises:
        ClusterError: the server does not answer, or our namespace does not exist.
    """
    named = f"{LIFECYCLE_NAMESPACE}/{account}"
    try:
        secret = cluster.create(secret_for(run))
    except (Forbidden, Invalid) as refusal:
        # An admission policy may be what denies it.
        return advisory_fence(f"the user may not make it: {refusal.api_message}")
    fence = Fence(account, secret["metadata"]["name"], secret["metadata"]["uid"])
    try:
        token = RunToken(cluster, fence)
        token.authorization()
        missing = in_words(missing_rights(token.writing, rights))
    except (Forbidden, Invalid, NotFound) as refusal:
        missing = [str(refusal.api_message)]
        why = f"the user gets no token of the ServiceAccount {named}"
    except ClusterError:
        lower_fence(cluster, fence)
        raise
    else:
        why = f"the ServiceAccount {named} lacks rights that this run needs"
    if missing:
        with suppress(Forbidden):
            # A Secret that stays does no harm: no process has a token of it.
            lower_fence(cluster, fence)
        return advisory_fence(f"{why}: {'; '.join(first_of(missing, MOST_REPORTED))}")
    return RaisedFence(fence, token)


def advisory_fence(why: str) -> RaisedFence:
    """The substitute for a fence: only the run itself stops its writes."""
    return RaisedFence(Fence(note=why))


def lower_fence(cluster: Cluster, fence: Fence) -> None:
    """Delete a fence that is no longer needed.

    Raises:
        ClusterError: the server does not answer. A Secret that stays does no harm: the next takeover of the
            lease deletes it.
    """
    if fence.secret:
        cluster.delete("v1", "Secret", fence.secret, LIFECYCLE_NAMESPACE, uid=fence.uid)


def delete_other_fences(cluster: Cluster, own: Fence) -> list[str]:
    """Ensure that the server refuses the tokens of all other runs; the names of the deleted Secrets.

    Of all runs, because an earlier process may have taken the lease over and died before it did this.

    Raises:
        Forbidden: the user may not do that, so those fences were only advisory for this user.
    """
    secrets = cluster.list(
        "v1", "Secret", LIFECYCLE_NAMESPACE, label_selector=FENCE_LABEL, metadata_only=True
    ).items
    # Others may set the label.
    ours = filter(is_written_by, (one["metadata"] for one in secrets))
    others = [meta for meta in ours if meta["uid"] != own.uid]
    for meta in others:
        cluster.delete("v1", "Secret", meta["name"], LIFECYCLE_NAMESPACE, uid=meta["uid"])
    return [meta["name"] for meta in others]


def fenced_cluster(
    cluster: Cluster, tenure: HeldLease, fence: Fence, token: RunToken | None = None
) -> Cluster:
    """The cluster as a run may use it: writes use the run's token, and only while the run holds the lease.

    Args:
        cluster: the live one, as the current user.
        tenure, fence: of the run.
        token: of the fence, if there is one already.
    """
    if not fence.secret:
        terms = WriteTerms(tenure.seconds_left, is_extension_pending=tenure.is_extension_pending)
        return FencedCluster(cluster.with_write_terms(terms), tenure)
    token = token or RunToken(cluster, fence)
    token.tenure = tenure
    return FencedCluster(token.writing, tenure)
