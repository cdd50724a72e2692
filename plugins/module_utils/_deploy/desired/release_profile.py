# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The profile that a release is rendered for: the deployed one, unless the user names another. Pure."""

from __future__ import annotations

from ..._release.model import NO_PROFILE
from ..._runs.records.installation import Installation


def chosen_profile(requested: str, installation: Installation) -> str:
    """The profile to render a release for, or empty.

    Args:
        requested: the option ``profile``; empty for the deployed profile.
        installation: of the cluster; a new cluster has no profile.
    """
    return "" if requested == NO_PROFILE else requested or installation.profile


def profile_change(installation: Installation, profile: str) -> str:
    """How a deployment changes the profile of a cluster, such as ``production → none``; empty if it does not.

    Args:
        installation: of the cluster.
        profile: of the release that is deployed, or empty.
    """
    is_new = not (installation.version or installation.target)
    if is_new or profile == installation.profile:
        return ""
    return f"{installation.profile or NO_PROFILE} → {profile or NO_PROFILE}"


def profile_problem(installation: Installation, profile: str, *, is_allowed: bool) -> str:
    """Why a release may not be deployed in a profile, with a solution; empty if it may.

    Args:
        installation, profile: as in :func:`profile_change`.
        is_allowed: whether the user allows another profile than the deployed one.
    """
    change = "" if is_allowed else profile_change(installation, profile)
    if not change:
        return ""
    return (
        f"profile {change}: the cluster has {_named(installation.profile)}, and this deployment has"
        f" {_named(profile)}. To keep the deployed profile, do not set profile (kyma_profile). To change it,"
        " add change_profile=true (kyma_change_profile)"
    )


def _named(profile: str) -> str:
    return f"profile {profile}" if profile else "no profile"
