# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The Secrets that errands use, for the deletion of versions."""

from __future__ import annotations

from ..._cluster.cluster import Cluster
from ..._errands.errand_model import API_VERSION, KIND, errand_from
from ..._jobs.secret_users import SecretUsers, secret_users


def read_errand_users(cluster: Cluster, namespace: str) -> SecretUsers:
    """The Secrets that the errands of a namespace refer to, each with its users."""
    errands = cluster.list(API_VERSION, KIND, namespace).items
    return secret_users(errands, lambda obj: errand_from(obj).spec.pod_template)
