# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The kit for testing migrations, for authors in any collection: it needs no cluster, and no pytest.

:func:`assert_migration` proves all that a migration promises, in milliseconds. The guide
``docs/guide_migrations.md`` shows it at work, and ``migration_pytest`` beside this file brings fixtures.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Cluster, Object
from ansible_collections.kyma.lifecycle.plugins.module_utils.migration import Component, Migration
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.api_server import (
    ApiServer,
    BadTest,
    InMemory,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.case import (
    Case,
    build_environment,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.collection import (
    problems_of_collection,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.memory_cluster import (
    MemoryCluster,
    Reaction,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.proofs import PROOFS
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.proofs_at_rest import (
    problems_at_rest,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.state import incomplete

__all__ = [
    "ApiServer",
    "BadTest",
    "Disproved",
    "InMemory",
    "MemoryCluster",
    "assert_blocked",
    "assert_migration",
    "assert_none_overdue",
    "assert_not_needed",
]


class Disproved(AssertionError):
    """A migration does not keep what it promises; the message says which promise, at which call, and how."""


def assert_migration(
    migration: type[Migration],
    before: Sequence[Object],
    after: Sequence[Object],
    *,
    stays: Sequence[Object] = (),
    variables: Mapping[str, Any] | None = None,
    components: Sequence[Component] | Mapping[str, Component] = (),
    release: str = "1.0",
    profile: str = "",
    ignore: Iterable[str] = (),
    crds: Sequence[Object] = (),
    prepare: Callable[[Cluster], None] | None = None,
    reactions: Sequence[Reaction] = (),
    max_requests: int = 3,
    seconds: float | None = None,
    server: ApiServer | None = None,
) -> None:
    """Prove that a migration brings one state to the other, and keeps all else that it promises.

    The proofs: its class is complete; ``check`` only reads, makes few requests, says needed on ``before`` and
    not_needed on ``after``, and twice the same, uses nothing but the cluster, and stands an empty one;
    ``run`` brings about ``after``; what has to stay, stays; a second run changes nothing; killed at each of
    its calls in turn, before the call's effect and after it, and run again, it comes to the same end; so it
    does with an error instead of the effect, and instead of the answer; it loses no update of others, spares
    their objects, keeps Secrets to itself, and leaves the release alone; it keeps nothing in the process;
    every plan can rehearse it; and it can be undone, but for what it declares ``irreversible``.

    Args:
        migration: the class.
        before: all objects that it is about, as a migration finds them. They are there as if the component
            had been applied; a status is kept.
        after: the same objects as they have to be afterwards: those that are left out must be gone. Of a
            status, only what is given here is compared.
        stays: what has to be the same object all the time, such as a Pod that must run on; apiVersion, kind
            and metadata will do.
        variables: the user's ``kyma_migration_variables``.
        components: those of the release; without any, the migration's own, without objects.
        release, profile: as they are in the context.
        ignore: paths of fields that may differ, such as ``metadata.annotations.example.com/since``; of one
            kind alone as ``ConfigMap:data.since``.
        crds: CustomResourceDefinitions of the kinds that not every cluster has.
        prepare: called with the cluster once ``before`` is there, for what objects can't say.
        reactions: called after each write with a cluster and the event, in place of controllers; only in
            memory, as a real API server has its own.
        max_requests: how many requests a check may make.
        seconds: how long ``check`` and ``run`` together may really take; default 10 in memory, 300 on a real
            API server. In memory ``ctx.sleep`` takes no time, and counts against the migration's timeout.
        server: where; default in memory.

    Raises:
        Disproved: with everything that is wrong.
        BadTest: the states can't be tested with.
    """
    __tracebackhide__ = True
    where = server or InMemory()
    _refuse_incomplete({"before": before, "after": after, "crds": crds})
    if list(before) == list(after):
        raise BadTest("before and after are the same: assert_not_needed tests that nothing is done")
    case = Case(
        migration,
        before,
        after,
        where,
        build_environment(
            migration,
            before,
            components=components,
            release=release,
            profile=profile,
            variables=variables,
            seconds=seconds or where.seconds,
            waits=where.waits,
        ),
        stays=stays,
        ignored=frozenset(ignore),
        crds=crds,
        prepare=prepare,
        reactions=reactions,
        max_requests=max_requests,
    )
    found: list[str] = []
    for number, proof in enumerate(PROOFS, 1):
        problems = list(proof.problems(case))
        found += [f"{proof.name}: {problem}" for problem in problems]
        if problems and proof.basic:
            left = len(PROOFS) - number
            found.append(f"({left} more proofs wait for this one)")
            break
    _raise_if(migration, found)


def assert_not_needed(migration: type[Migration], state: Sequence[Object] = (), **options: Any) -> None:
    """Prove that a migration leaves a state alone: a fresh cluster, one that is there, another layout.

    Args:
        migration: the class.
        state: the objects that are there.
        options: as in :func:`assert_migration`: ``variables``, ``components``, ``release``, ``profile``,
            ``crds``, ``prepare``, ``max_requests``, ``seconds``, ``server``.

    Raises:
        Disproved: check says something else, writes, or makes too many requests.
    """
    __tracebackhide__ = True
    _refuse_incomplete({"state": state})
    _raise_if(migration, list(problems_at_rest(migration, state, "not_needed", (), **options)))


def assert_blocked(
    migration: type[Migration], state: Sequence[Object] = (), *, names: Sequence[str] = (), **options: Any
) -> None:
    """Prove that a migration blocks a deployment, leaves the state alone, and says what is in its way.

    Args:
        migration: the class.
        state: the objects that are there.
        names: what the evidence has to name, such as ``StorageClass fast``.
        options: as in :func:`assert_not_needed`.

    Raises:
        Disproved: check says something else, does not name these, writes, or makes too many requests.
    """
    __tracebackhide__ = True
    _refuse_incomplete({"state": state})
    _raise_if(migration, list(problems_at_rest(migration, state, "blocked", names, **options)))


def assert_none_overdue(collection: str) -> None:
    """Prove that a collection ships no migration whose time has come, and none that can't be loaded.

    The newest release that it supports stands in its ``meta/kyma.yml``; a migration has to be removed with
    the release that its ``remove_in`` names.

    Args:
        collection: its name, such as ``acme.platform``.

    Raises:
        Disproved: "remove me", for each.
        NoSupportedRelease: the collection does not declare what it supports.
    """
    __tracebackhide__ = True
    if problems := problems_of_collection(collection):
        raise Disproved(f"migrations of {collection}:" + "".join(f"\n  - {one}" for one in problems))


def _refuse_incomplete(given: Mapping[str, Sequence[Object]]) -> None:
    problems = [problem for name, objects in given.items() for problem in incomplete(objects, name)]
    if problems:
        raise BadTest("; ".join(problems))


def _raise_if(migration: type[Migration], found: Sequence[str]) -> None:
    __tracebackhide__ = True
    if found:
        component = getattr(migration, "component", "?")
        name = migration.id() if component != "?" else migration.__name__
        raise Disproved(
            f"migration {name} does not keep these promises:"
            + "".join(f"\n  - {problem}" for problem in found)
        )
