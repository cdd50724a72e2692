# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a release may follow the one that a cluster has: Kyma upgrades go one minor version at a time."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from packaging.version import Version


def upgrade_problem(version: str, target: str, wanted: str, upgrades_from: Sequence[str] = ()) -> str:
    """Why a release may not be deployed now, in a sentence for a person; empty where it may.

    Args:
        version: what was last deployed completely, or empty.
        target: what is being deployed; differs from ``version`` while a deployment is open.
        wanted: the release to deploy.
        upgrades_from: the versions that it may follow; default: the same and the previous minor.
    """
    if target and target != version and wanted != target:
        return (
            f"the deployment of {target} was begun and has not ended, so parts of it are there already:"
            f" deploy {target} again to end it"
        )
    if not version or wanted == version:
        return ""
    from packaging.version import InvalidVersion, Version

    try:
        current, next_ = Version(version), Version(wanted)
    except InvalidVersion:
        return ""
    if next_ < current:
        return f"{wanted} is older than {version}, which the cluster has: downgrades are never safe"
    if upgrades_from:
        if not any(_same_line(Version(base), current) for base in upgrades_from):
            return f"{wanted} may follow {' or '.join(upgrades_from)}, and the cluster has {version}"
        return ""
    if next_.major != current.major or next_.minor - current.minor > 1:
        between = f"{current.major}.{current.minor + 1}"
        return (
            f"{wanted} can't follow {version} directly, as upgrades go one minor version at a time:"
            f" deploy {between} first"
        )
    return ""


def server_problem(server: str, supported: str) -> str:
    """Why a release may not run on an API server, in a sentence; empty where it may or nobody says.

    Args:
        server: its version, e.g. ``v1.30.2-gke.1``.
        supported: the versions that the release supports, as a PEP 440 specifier set, or empty.
    """
    found = re.match(r"v?(\d+\.\d+\.\d+)", server)
    if not supported or not found:
        return ""
    from packaging.specifiers import SpecifierSet

    if SpecifierSet(supported).contains(found.group(1)):
        return ""
    return f"the release supports Kubernetes {supported}, and the cluster has {server}"


def _same_line(base: Version, current: Version) -> bool:
    return current.release[: len(base.release)] == base.release
