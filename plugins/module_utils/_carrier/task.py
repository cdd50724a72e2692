# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The context of one task of a playbook, for both carriers: the module on a host and the action plugin."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .._batch import Batch
from .._cluster.cluster import Cluster, Object
from .._errors import LifecycleError
from .._migrations.migration_set import MigrationSet
from .._progress import Progress
from .._release.model import NO_PROFILE, Release
from .module_materials import NO_MODULE_MATERIALS, ModuleMaterials

if TYPE_CHECKING:
    from .._cluster.fence import LeaseHolding


@dataclass(frozen=True)
class AvailableRelease:
    """A release that the user has besides the wanted release.

    Attributes:
        version: of the release.
        upgrades_from: the versions that it may follow; empty means the previous minor.
        options: those that name it in a task: ``release``, ``release_checksum``, ``release_version``.
        materials: to read it.
    """

    version: str
    upgrades_from: tuple[str, ...]
    options: Mapping[str, str]
    materials: Materials


class ReleaseNotSent(LifecycleError):
    """A task on another host needs the release in a profile for which the controller has not rendered it.

    Attributes:
        profile: the profile, or empty.
    """

    def __init__(self, profile: str) -> None:
        shown = profile or NO_PROFILE
        super().__init__(
            f"the release was not sent for profile {shown}, which the cluster has. This task works in the"
            " background, so set profile (kyma_profile)"
        )
        self.profile = profile


class Materials(ABC):
    """The controller's part: the release and the migrations, each read only when requested."""

    @property
    def has_release(self) -> bool:
        """Whether a release was named at all."""
        return True

    @abstractmethod
    def fingerprint(self) -> str:
        """The digest of all inputs of the rendering but the profile; cheap, as nothing is parsed for it."""

    @abstractmethod
    def for_profile(self, profile: str) -> Materials:
        """The same, with the release rendered for a profile, or for none if it is empty."""

    def version(self) -> str:
        """The version of the release; nothing is rendered for it where the files are."""
        return self.release().version

    def release_digest(self) -> str:
        """The digest of the release's files; nothing is rendered for it where the files are."""
        return self.release().release_digest

    @abstractmethod
    def release(self, skip: Mapping[str, str] | None = None) -> Release:
        """The rendered release. Raises LifecycleError with file and line if it can't be read.

        Args:
            skip: source hashes of components that need not be read if they have not changed; with any, the
                CRDs need not be read either.
        """

    @abstractmethod
    def content(self, component: str) -> Sequence[Object]:
        """The manifests of one component, read alone if that is cheaper than reading the whole release."""

    def available_releases(self) -> Sequence[AvailableRelease]:
        """Other releases that an upgrade may lead over; none if the user does not request that."""
        return ()

    def missing_roles(self, names: Collection[str]) -> frozenset[str]:
        """Those of these Ansible roles that the controller does not have."""
        del names
        return frozenset()

    @property
    def modules(self) -> ModuleMaterials:
        """The catalog and the manifests of modules; none if the task has no such options."""
        return NO_MODULE_MATERIALS

    @abstractmethod
    def migrations(self) -> MigrationSet:
        """The migrations of the collection, of the collections the user lists, and of the user's folders."""


@dataclass(frozen=True)
class ControllerNotes:
    """What only the controller knows about a task's options.

    Attributes:
        requested: the options that name the release, as they are valid on the controller.
        problems: errors in options that have their defaults instead, each in a sentence.
    """

    requested: Mapping[str, str] = field(default_factory=dict)
    problems: Sequence[str] = ()


NO_NOTES = ControllerNotes()


@dataclass(frozen=True)
class Task:
    """All that a task function may know and use.

    Attributes:
        params: the validated options.
        cluster: the cluster that the connection options name.
        materials: what the controller has or has sent.
        progress: where to report progress.
        cancelled: whether a person has requested a stop; work in flight may finish.
        tenure: the cluster's lease, if the task works under it.
        notes: what only the controller knows.
        check_mode: nothing may be written.
        diff: the user wants to see what changes.
    """

    params: Mapping[str, Any]
    cluster: Cluster
    materials: Materials
    progress: Progress
    cancelled: Callable[[], bool]
    check_mode: bool = False
    diff: bool = False
    tenure: LeaseHolding | None = None
    notes: ControllerNotes = NO_NOTES

    def batch(self, subject: str, state: str, unit: str) -> Batch:
        """Work of the task on many objects; the arguments are those of :class:`~.._batch.Batch`."""
        return Batch(subject, state, unit, progress=self.progress, cancelled=self.cancelled)


LEASE_SECONDS = 45
"""How long a lease lasts: the time that an API server gives a write (34 seconds), and a missed renewal."""
SERVICE_ACCOUNT = "deployer"
"""The ServiceAccount for a run's writes, unless the user names one: ours, with the deployer's role."""

Result = dict[str, Any]
"""What Ansible shows of a task: ``changed``, ``failed``, ``msg``, ``warnings``, ``diff``, and our own keys"""

TaskFunction = Callable[[Task], Result]


@dataclass(frozen=True)
class TaskDefinition:
    """One module's behaviour: its options and its one call.

    Attributes:
        function: what it does.
        argument_spec: its own options; the connection options are added by the carriers.
        needs_release: whether the carrier has to provide a release.
        needs_migrations: whether the carrier has to provide migrations.
        needs_modules: whether the carrier has to provide a catalog of modules.
        names_target: whether the carrier adds what commands need to reach the cluster to the result.
        mutually_exclusive, required_one_of, required_if: as in AnsibleModule.
        secret_options: options with ``no_log`` whose values the function itself keeps out of its results. The
            carriers don't search for these values: a value such as "1" would hide the numbers of a result.
    """

    function: TaskFunction
    argument_spec: Mapping[str, Mapping[str, Any]]
    needs_release: bool = False
    needs_migrations: bool = False
    needs_modules: bool = False
    names_target: bool = False
    mutually_exclusive: Sequence[Sequence[str]] = ()
    required_one_of: Sequence[Sequence[str]] = ()
    required_if: Sequence[Sequence[Any]] = ()
    secret_options: Sequence[str] = ()

    @property
    def secret_names(self) -> Sequence[str]:
        """The secret options, and their aliases."""
        aliases = (self.argument_spec[option].get("aliases") or () for option in self.secret_options)
        return [*self.secret_options, *(alias for names in aliases for alias in names)]
