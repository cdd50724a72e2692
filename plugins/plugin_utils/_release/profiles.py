# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The profile that a release is rendered for."""

from __future__ import annotations

from collections.abc import Sequence

from ...module_utils._release.model import ComponentEntry
from ...module_utils._release.release_error import release_error
from .layout import Layout


def choose_profile(
    layout: Layout,
    entries: Sequence[ComponentEntry],
    requested: str,
    shown: str,
    *,
    is_deployed: bool = False,
) -> str:
    """The requested profile, if the release has it; by default, the only one that it was rendered for.

    Charts have plain values in addition to those of their profiles, so that no profile is needed for them.

    Args:
        layout: of the release.
        entries: the release's components.
        requested: the profile of the user or of the cluster, or empty.
        shown: the release's name in messages.
        is_deployed: whether it is the profile of the cluster, because the user has named none.

    Raises:
        ReleaseError: the profile does not exist, or the user must choose one.
    """
    rendered = layout.rendered_profiles(entries)
    known = rendered | layout.chart_profiles(entries)
    if requested:
        if requested not in known:
            raise release_error(_unknown_profile(requested, known, is_deployed=is_deployed), shown)
        return requested
    waiting = [entry for entry in entries if not layout.find(entry.name, "", entry.source)]
    fitting = {
        profile
        for profile in rendered
        if any(layout.find(entry.name, profile, entry.source) for entry in waiting)
    }
    if len(fitting) > 1:
        raise release_error(
            f"the release was rendered for several profiles: choose one of {_listed(fitting)}", shown
        )
    return next(iter(fitting), "")


def _unknown_profile(requested: str, known: set[str], *, is_deployed: bool) -> str:
    choice = f"there are {_listed(known)}" if known else "it has no profiles"
    if is_deployed:
        return (
            f"the release has no profile {requested!r}, which the cluster has: {choice}. To change the"
            " profile of the cluster, set profile=none (kyma_profile) or name another one, and add"
            " change_profile=true (kyma_change_profile)"
        )
    return f"the release has no profile {requested!r}: {choice}" + ("" if known else ", so leave it out")


def _listed(names: set[str]) -> str:
    return ", ".join(sorted(names))
