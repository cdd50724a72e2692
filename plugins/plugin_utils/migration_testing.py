# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The kit for testing migrations, for authors in any collection. It needs no cluster, and no pytest.

:func:`assert_migration` proves all promises of a migration, in milliseconds. The guide
``docs/guide_migrations.md`` shows an example, and ``migration_pytest`` next to this file has the fixtures.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..module_utils._cluster.cluster import Object
from ..module_utils.migration import Migration
from ..plugin_utils._migration_testing.api_server import ApiServer, BadTest, InMemory
from ..plugin_utils._migration_testing.case import Case
from ..plugin_utils._migration_testing.collection import problems_of_collection
from ..plugin_utils._migration_testing.memory_cluster import MemoryCluster
from ..plugin_utils._migration_testing.proofs import PROOFS, problems_at_rest

__all__ = [
    "ApiServer",
    "BadTest",
    "Case",
    "Disproved",
    "InMemory",
    "MemoryCluster",
    "assert_blocked",
    "assert_migration",
    "assert_none_overdue",
    "assert_not_needed",
]


class Disproved(AssertionError):
    """A migration breaks a promise. The message says which promise, at which call, and how."""


def assert_migration(
    case: Case | type[Migration],
    before: Sequence[Object] = (),
    after: Sequence[Object] = (),
    **options: Any,
) -> None:
    """Prove that a migration changes one state to the other, and keeps all its other promises.

    The proofs:

    - Its class is complete.
    - ``check`` only reads, makes few requests, and uses nothing but the cluster. It returns needed on
      ``before`` and not_needed on ``after``, the same each time and for each release. It does not fail on an
      empty cluster, or where annotations or labels are missing.
    - ``run`` results in ``after``. Objects in ``stays`` stay. A second run changes nothing.
    - It is killed at each of its calls, before and after the call's effect. Run again, it has the same
      result. So it has with an error instead of the effect, and instead of the answer.
    - It loses no update of others, does not change their objects, does not expose Secrets, and does not
      change the release. It stores nothing in the process.
    - Every plan can rehearse it. It can be undone, except for what it declares ``irreversible``.

    Args:
        case: the case, or the class of the migration, and with it:
        before, after: see :class:`Case`.
        options: the other attributes of :class:`Case`: ``stays``, ``variables``, ``components``, ``release``,
            ``profile``, ``ignore``, ``crds``, ``prepare``, ``reactions``, ``max_requests``, ``seconds``,
            ``server``.

    Raises:
        Disproved: with all problems.
        BadTest: the states are not valid for a test.
    """
    __tracebackhide__ = True
    if not isinstance(case, Case):
        case = _case_of(case, before, after, options)
    if list(case.before) == list(case.after):
        raise BadTest("before and after are the same: assert_not_needed tests that nothing is done")
    failures: list[str] = []
    for number, proof in enumerate(PROOFS, 1):
        problems = list(proof.problems(case))
        failures += [f"{proof.name}: {problem}" for problem in problems]
        if problems and proof.basic:
            remaining = len(PROOFS) - number
            failures.append(f"({remaining} more proofs wait for this one)")
            break
    _raise_if(case.migration, failures)


def assert_not_needed(migration: type[Migration], state: Sequence[Object] = (), **options: Any) -> None:
    """Prove that a migration does not change a state: a fresh or migrated cluster, another layout.

    Args:
        migration: the class.
        state: the objects that exist.
        options: as in :func:`assert_migration`: ``variables``, ``components``, ``release``, ``profile``,
            ``crds``, ``prepare``, ``max_requests``, ``seconds``, ``server``.

    Raises:
        Disproved: check returns another verdict, writes, or makes too many requests.
    """
    __tracebackhide__ = True
    case = _case_of(migration, state, state, options)
    _raise_if(migration, list(problems_at_rest(case, "not_needed")))


def assert_blocked(
    migration: type[Migration], state: Sequence[Object] = (), *, names: Sequence[str] = (), **options: Any
) -> None:
    """Prove that a migration blocks a deployment, changes nothing, and says what blocks it.

    Args:
        migration: the class.
        state: the objects that exist.
        names: texts that the evidence must contain, such as ``StorageClass fast``.
        options: as in :func:`assert_not_needed`.

    Raises:
        Disproved: check returns another verdict, does not name these, writes, or makes too many requests.
    """
    __tracebackhide__ = True
    case = _case_of(migration, state, state, options)
    _raise_if(migration, list(problems_at_rest(case, "blocked", names)))


def assert_none_overdue(collection: str) -> None:
    """Prove that a collection ships no overdue migration, and none that can't be loaded.

    Its ``meta/kyma.yml`` declares the newest release that it supports. A migration must be removed in the
    release that its ``remove_in`` names.

    Args:
        collection: its name, such as ``acme.platform``.

    Raises:
        Disproved: with "remove me" for each, and with loading errors.
        NoSupportedRelease: the collection does not declare what it supports.
    """
    __tracebackhide__ = True
    if problems := problems_of_collection(collection):
        raise Disproved(f"migrations of {collection}:" + "".join(f"\n  - {one}" for one in problems))


def _case_of(
    migration: type[Migration],
    before: Sequence[Object],
    after: Sequence[Object],
    options: Mapping[str, Any],
) -> Case:
    """The case; an option of None has its default."""
    given = {name: value for name, value in options.items() if value is not None}
    return Case(migration, before, after, **given)


def _raise_if(migration: type[Migration], failures: Sequence[str]) -> None:
    __tracebackhide__ = True
    if failures:
        component = getattr(migration, "component", "?")
        name = migration.id() if component != "?" else migration.__name__
        raise Disproved(
            f"migration {name} fails these proofs:" + "".join(f"\n  - {problem}" for problem in failures)
        )
