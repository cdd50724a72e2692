# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The names of the cases, the sizes and the rows of the tables."""

from __future__ import annotations

UNCHANGED = "unchanged"
CHANGED = "changed"
FIRST = "first"
CASES = {
    FIRST: "First deployment",
    UNCHANGED: "Nothing to do",
    CHANGED: "One changed component of fifteen",
}
"""In the order in which they come on a cluster, with their headings."""

ERRANDS = "errands"
STORE = "store"
FLEET = "fleet"
PARTS = {ERRANDS: "Errands", STORE: "The job store", FLEET: "A fleet with nothing to do"}
"""Cases on clusters of their own, with the headings of their figures."""

SIZES = (360, 3600)
"""Roughly how many objects there are: one copy, and ten, of what a release of Kyma has."""
SMALL, LARGE = SIZES
ROUND_TRIPS = (0, 20, 100)
"""Milliseconds that bytes take to the API server and back, beyond what this machine takes."""
NEAR = ROUND_TRIPS[0]
LIMITS = {SMALL: 300.0, LARGE: 900.0}
"""Seconds that one time of one case may take, by the size."""

OURS = "kyma.lifecycle"
MIGRATING = "kyma.lifecycle, 100 more migrations"
MODULES = "kyma.lifecycle, 20 modules"
PING = "a playbook with one ping"
KUBECTL_APPLY = "kubectl apply --server-side"
KUBECTL_DIFF = "kubectl diff --server-side"
KUBERNETES_CORE = "kubernetes.core.k8s"
HELM = "helm upgrade, all components"
HELM_ONE = "helm upgrade, the changed component alone"
ROLLOUT = "the rollout itself"
