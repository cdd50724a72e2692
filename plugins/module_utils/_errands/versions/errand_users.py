# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The Secrets that errands use."""

from __future__ import annotations

from collections.abc import Iterable

from ..._cluster.cluster import API_VERSION, Cluster
from ..._jobs.pod_references import SECRET, pod_references
from ..._jobs.secret_users import SecretUsers, users_by_secret
from ..errand_model import KIND, Errand, errand_from


def read_errand_users(cluster: Cluster, namespace: str) -> SecretUsers:
    """The Secrets that the errands of a namespace use, each with its users."""
    return errand_users(map(errand_from, cluster.list(API_VERSION, KIND, namespace).items))


def errand_users(errands: Iterable[Errand]) -> SecretUsers:
    """The Secrets that errands refer to: in their templates, and in the configuration of their last runs."""
    return users_by_secret((errand.key, _secrets_of(errand)) for errand in errands)


def _secrets_of(errand: Errand) -> list[str]:
    run = errand.status.run
    names = [one.name for one in pod_references(errand.spec.pod_template) if one.kind == SECRET]
    return names + [one.resolved_name for one in run.configuration if one.kind == SECRET] if run else names
