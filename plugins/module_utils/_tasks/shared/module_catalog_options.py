# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The options that name a catalog of modules."""

from __future__ import annotations

from ..._carrier.module_materials import CLUSTER_CATALOG
from ..._carrier.options import ArgumentSpec
from ..._release.limits import LIMITS_SPEC

CATALOG_SPEC: ArgumentSpec = {
    "catalog": {"type": "list", "elements": "raw", "default": [CLUSTER_CATALOG]},
    "catalog_cache": {"type": "str", "default": "~/.cache/kyma.lifecycle/manifests"},
    "checksums": {"type": "dict", "default": {}},
    "cluster_labels": {"type": "dict", "default": {}},
    **LIMITS_SPEC,
}
"""Documented in the fragments ``kyma.lifecycle.module_catalog`` and ``kyma.lifecycle.limits``."""
