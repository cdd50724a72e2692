# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a release may follow the deployed one: Kyma upgrades go one minor version at a time."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from ..._text import short_list

if TYPE_CHECKING:
    from packaging.version import Version


def upgrade_problem(
    version: str,
    target: str,
    desired: str,
    upgrades_from: Sequence[str] = (),
    *,
    abandon: bool = False,
    alone: bool = False,
    migrated: Collection[str] | None = None,
) -> str:
    """Why a release may not be deployed now, in a sentence for a person; empty if it may.

    Args:
        version: what was last deployed completely, or empty.
        target: what is being deployed; differs from ``version`` while a deployment is open.
        desired: the release to deploy.
        upgrades_from: the versions that it may follow; default: the previous minor. It may follow versions of
            its own minor as well, unless this names some of them.
        abandon: give up an open deployment.
        alone: only some of its components are to be deployed.
        migrated: the migrations of ``target`` that have begun to write; None if unknown.
    """
    if is_deployment_open(version, target) and not is_same_release(desired, target) and not abandon:
        follows = upgrade_problem(version, version, desired, upgrades_from, alone=alone)
        return _open_deployment_problem(target, desired, follows, migrated)
    if not version or is_same_release(desired, version):
        return ""
    from packaging.version import InvalidVersion

    try:
        current, next_ = _ordered(version), _ordered(desired)
    except InvalidVersion:
        return ""
    if next_ < current:
        return f"{desired} is older than {version}, which the cluster has: downgrades are never safe"
    if upgrades_from:
        bases = [_ordered(base) for base in upgrades_from]
        if not any(_covers(base, current) for base in (*bases, *_own_line(next_, bases))):
            return f"{desired} may follow {' or '.join(upgrades_from)}, and the cluster has {version}"
        return ""
    if next_.major != current.major or next_.minor - current.minor > 1:
        refusal = f"{desired} can't follow {version} directly, as upgrades go one minor version at a time:"
        if next_.major != current.major:
            return f"{refusal} deploy the releases in between first, the next of them {_after(current, 1)}"
        between = ", then ".join(_after(current, step) for step in range(1, next_.minor - current.minor))
        if alone:
            return (
                f"{refusal} deploy {between} as whole releases first, as components (kyma_components)"
                " alone take no hops"
            )
        return (
            f"{refusal} deploy {between} first; or have it done with hops=auto (kyma_hops),"
            " which takes them from release_catalog (kyma_release_catalog)"
        )
    return ""


def _open_deployment_problem(
    target: str, desired: str, follows: str, migrated: Collection[str] | None
) -> str:
    """Why a release may not be deployed while the deployment of another one is open, and what to do.

    Args:
        target, desired: the releases that is open, and that is to be deployed.
        follows: why the desired one may not follow the release before the target; empty if it may.
        migrated: see :func:`upgrade_problem`.
    """
    begun = f"the deployment of {target} has begun and has not ended, so parts of it exist already:"
    complete = f"deploy {target} again to complete it"
    if follows:
        return (
            f"{begun} {complete}; giving it up with abandon=true (kyma_abandon) is not enough, as {follows}"
        )
    if migrated:
        what = f"migration {short_list(sorted(migrated), 2)} has begun to write, and"
        return (
            f"{begun} {complete} before {desired}, as {what} {desired} may expect its end. abandon=true"
            " (kyma_abandon) gives it up in spite of that, and lists what cannot be reverted"
        )
    give_up = "give it up with abandon=true (kyma_abandon), which lists what cannot be reverted"
    if migrated is None:
        return f"{begun} {complete}, or {give_up}"
    return f"{begun} none of its migrations has begun to write, so you can {give_up}; or {complete}"


def is_deployment_open(version: str, target: str) -> bool:
    """Whether a deployment of ``target`` was begun and has not ended."""
    return bool(target) and not is_same_release(target, version)


def is_same_release(one: str, other: str) -> bool:
    """Whether two versions are the same, as 2.9 and 2.9.0 are, and 2.9.0+a and 2.9.0+b."""
    if one == other:
        return True
    from packaging.version import InvalidVersion

    try:
        return _ordered(one) == _ordered(other)
    except InvalidVersion:
        return False


def is_older(version: str, than: str) -> bool:
    """Whether one version is older than another; False if either cannot be compared."""
    from packaging.version import InvalidVersion

    try:
        return _ordered(version) < _ordered(than)
    except InvalidVersion:
        return False


def _ordered(version: str) -> Version:
    """A comparable version, without the part after ``+``: builds of a version have no order."""
    from packaging.version import Version

    return Version(Version(version).public)


def _after(version: Version, steps: int) -> str:
    return f"{version.major}.{version.minor + steps}"


def server_problem(server: str, supported: str) -> str:
    """Why a release may not run on an API server, in a sentence; empty if it may or this is unknown.

    Args:
        server: its version, e.g. ``v1.30.2-gke.1``.
        supported: the versions that the release supports, as a PEP 440 specifier set, or empty.
    """
    match = re.match(r"v?(\d+\.\d+\.\d+)", server)
    if not supported or not match:
        return ""
    from packaging.specifiers import SpecifierSet

    if SpecifierSet(supported).contains(match.group(1)):
        return ""
    return f"the release supports Kubernetes {supported}, and the cluster has {server}"


def _covers(base: Version, current: Version) -> bool:
    return (*current.release, 0, 0)[: len(base.release)] == base.release


def _own_line(version: Version, bases: Sequence[Version]) -> list[Version]:
    """The minor of a version, unless the list of versions that it may follow names some of that minor."""
    from packaging.version import Version

    line = Version(f"{version.major}.{version.minor}")
    return [] if any(_covers(line, base) for base in bases) else [line]
