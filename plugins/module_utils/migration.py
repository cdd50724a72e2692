# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The contract for authors of migrations.

This file is public. So is the test kit in ``plugin_utils/migration_testing.py``, with its pytest fixtures in
``plugin_utils/migration_pytest.py``. All other Python files of this collection are private.

A migration takes a cluster from a state that a release can't work with to one that it can. It is a class
derived from :class:`Migration`, found by convention. It decides from the cluster's state, never from a
version. The guide ``docs/guide_migrations.md`` shows one from the first failing test to its removal.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, ClassVar, Protocol, TypeVar

from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import (
    Cluster,
    Object,
    Ref,
    ref_of,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import (
    ClusterError,
    Conflict,
    Forbidden,
    Invalid,
    KindNotServed,
    NotFound,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.quantity import (
    BadQuantity,
    parse_quantity,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._errors import LifecycleError

__all__ = [
    "GLOBAL",
    "BadQuantity",
    "Cluster",
    "ClusterError",
    "Component",
    "Conflict",
    "Context",
    "Forbidden",
    "Invalid",
    "KindNotServed",
    "LifecycleError",
    "Migration",
    "MigrationError",
    "NotFound",
    "Object",
    "Phase",
    "Ref",
    "Verdict",
    "blocked",
    "needed",
    "not_needed",
    "parse_quantity",
]

GLOBAL = "global"
"""The component of migrations that belong to the whole deployment."""

T = TypeVar("T")


class MigrationError(LifecycleError):
    """Raise this from ``run`` with a message for a person: what failed, on which object, what to do now."""


class Phase(StrEnum):
    """When a migration runs: before or after its component, or the whole deployment."""

    PRE = "pre"
    POST = "post"


@dataclass(frozen=True)
class Verdict:
    """The result of a migration's check, with its evidence.

    Attributes:
        state: ``needed``, ``not_needed`` or ``blocked``.
        evidence: what in the cluster led to it, in one sentence that names the object.
    """

    state: str
    evidence: str


def needed(evidence: str) -> Verdict:
    """A verdict: the release can't work with the cluster's state, and ``run`` can change it."""
    return Verdict("needed", evidence)


def not_needed(evidence: str) -> Verdict:
    """A verdict: the cluster is already migrated, or has nothing that this migration is about."""
    return Verdict("not_needed", evidence)


def blocked(evidence: str) -> Verdict:
    """A verdict: the cluster is not migrated, and ``run`` can't do it. Say what a person has to do."""
    return Verdict("blocked", evidence)


@dataclass(frozen=True)
class Component:
    """A component that is being processed, as migrations see it.

    Attributes:
        name: the component's name.
        namespace: its default namespace.
        objects: copies of the objects that the release wants in it. Changing them changes nothing.
            They are read and copied on first access: ``contains`` and reads of the cluster are cheaper.
        refs: the references of these objects, if known without reading them.
        action: what the deployment does with it: ``new`` (it was never deployed completely), ``upgraded``
            (its manifests differ from those that were deployed) or ``unchanged``. It stays the same until the
            deployment has ended.
    """

    name: str
    namespace: str
    objects: Sequence[Object] = ()
    refs: frozenset[Ref] | None = None
    action: str = "upgraded"

    def contains(self, ref: Ref) -> bool:
        """Whether the component contains an object in the release."""
        known = frozenset(map(ref_of, self.objects)) if self.refs is None else self.refs
        return ref in known


class Logger(Protocol):
    """The log of a migration, line by line."""

    def info(self, message: str) -> None:
        """Print a line on the terminal."""

    def warning(self, message: str) -> None:
        """Print a line, and add it to the run's record. The migration then counts as ``warned``."""


@dataclass(frozen=True)
class Context:
    """All that a migration may know and use.

    Attributes:
        cluster: the cluster. In check mode its writes are rehearsed and not stored.
        components: all components of the release, by name.
        release: the version of the release that is being deployed.
        profile: the profile, or empty.
        variables: the user's variables for migrations (``kyma_migration_variables``).
        log: prints lines on the terminal.
        remaining: returns the seconds left until this migration's deadline.
        cancelled: whether the run has been cancelled; long loops must check it.
        cancel: cancels the whole deployment, with a reason.
        sleep: waits that many seconds, or less if the run is cancelled or the deadline is near.
        rehearsal: writes are not stored, and no controller reacts, so there is nothing to wait for.
    """

    cluster: Cluster
    components: Mapping[str, Component]
    release: str
    profile: str
    variables: Mapping[str, Any]
    log: Logger
    remaining: Callable[[], float]
    cancelled: Callable[[], bool]
    cancel: Callable[[str], None]
    sleep: Callable[[float], None]
    rehearsal: bool = False

    def retry(
        self,
        action: Callable[[], T],
        *,
        attempts: int = 5,
        delay: float = 0.5,
        factor: float = 2.0,
        on: tuple[type[Exception], ...] = (LifecycleError,),
    ) -> T:
        """Call ``action`` until it succeeds, with growing delays between the attempts.

        Args:
            action: called without arguments; its result is returned.
            attempts: the maximum number of calls.
            delay: seconds before the second attempt.
            factor: the factor by which the delay grows each time.
            on: the exceptions to retry on; all others are raised at once.

        Raises:
            Exception: the last one, when no attempts or no time are left, or the run is cancelled.
        """
        for attempt in range(1, attempts + 1):
            try:
                return action()
            except on:
                if attempt == attempts or self.cancelled() or self.remaining() <= delay:
                    raise
            self.sleep(delay)
            delay *= factor
        raise ValueError("attempts must be at least 1")


class Migration(ABC):
    """One migration. The first line of its docstring says what it changes.

    Class attributes:
        component: the component it belongs to, or :data:`GLOBAL`. Required.
        phase: before or after the component (or the deployment). Required.
        name: unique within the component; the class name in kebab case unless set.
        remove_in: the first release that no longer ships it. Either this or ``keep`` is required.
        keep: why no version can be named, or why it stays for ever.
        after: ids of migrations of the same component and phase that must be done before.
        on_failure: ``fail`` fails the component, ``warn`` only prints a warning.
        timeout: seconds that ``check``, ``run`` and ``undo`` may each take.
        irreversible: what of it can't be undone and why, or empty. Undo does not change that, and says why.
        irreversible_kinds: the kinds of objects that this applies to; if empty, all that it writes.
    """

    component: ClassVar[str]
    phase: ClassVar[Phase]
    name: ClassVar[str] = ""
    remove_in: ClassVar[str] = ""
    keep: ClassVar[str] = ""
    after: ClassVar[tuple[str, ...] | list[str]] = ()
    on_failure: ClassVar[str] = "fail"
    timeout: ClassVar[float] = 300.0
    irreversible: ClassVar[str] = ""
    irreversible_kinds: ClassVar[tuple[str, ...] | list[str]] = ()

    @classmethod
    def id(cls) -> str:
        """``<component>/<name>``, e.g. ``logging/grow-loki-volume``."""
        return f"{cls.component}/{cls.name or kebab_case(cls.__name__)}"

    @abstractmethod
    def check(self, ctx: Context) -> Verdict:
        """Decide from the cluster's state, by reads only, whether ``run`` is needed."""

    @abstractmethod
    def run(self, ctx: Context) -> None:
        """Migrate the cluster. Must be safe to run again from any point at which it was killed."""

    def undo(self, ctx: Context) -> None:
        """Undo what no journal can restore. Most migrations do not need it.

        Every write of ``run`` is journaled, and undo restores the earlier values field by field. This method
        is for the rest: a command in a container, data, anything outside of the cluster. It is called as long
        as a release ships the migration, after the journal has restored what it could, even if that was
        nothing. Once it has succeeded, it is not called again until the migration has run again. It gets the
        cluster as ``run`` does, and must be safe to call again from any point at which it was killed.
        """
        ctx.log.info("there is nothing to undo but what the journal restores")

    @classmethod
    def has_own_undo(cls) -> bool:
        """Whether the migration defines its own :meth:`undo`."""
        return cls.undo is not Migration.undo


def kebab_case(class_name: str) -> str:
    """``GrowLokiVolume`` as ``grow-loki-volume``."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "-", class_name).lower()
