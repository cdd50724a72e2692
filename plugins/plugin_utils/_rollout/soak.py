# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether the soak of a cluster is over. Pure."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from ...module_utils._timestamp import timestamp
from .model import RolloutCluster, Standing


def after_soak(cluster: RolloutCluster, soak: float, now: datetime) -> RolloutCluster:
    """Whether the soak of a cluster is over that has the release and is healthy.

    Only times of the cluster's own clock are compared.
    """
    facts = cluster.facts
    begins = [moment for moment in (facts.since, facts.healthy_since) if moment]
    begin = max(begins) if facts.since else None
    done = replace(cluster, has_begun=True, done_since=timestamp(begin) if begin else "")
    if soak <= 0:
        return done
    if begin is None or facts.now is None:
        missing = (
            "its record does not say since when it has the release" if facts.now else "its clock is unknown"
        )
        return replace(done, standing=Standing.UNCERTAIN, reason=missing)
    left = timedelta(seconds=soak) - (facts.now - begin)
    if left <= timedelta(0):
        return done
    soaked_at = next_second(now + left)
    reason = f"soaks until {timestamp(soaked_at)}"
    return replace(done, standing=Standing.SOAKING, reason=reason, soaked_at=soaked_at)


def next_second(moment: datetime) -> datetime:
    """The whole second from which a moment has passed, so that a call at the shown time is not too early."""
    return moment.replace(microsecond=0) + timedelta(seconds=1 if moment.microsecond else 0)
