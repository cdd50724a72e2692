# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The rights of a client of Kyma's lifecycle manager (KLM), where its kinds are served."""

from __future__ import annotations

from .._cluster.cluster import Ref
from .._module_catalog.documents import GROUP
from .._objects.access.rights import Right

KYMA = Ref(GROUP, "Kyma", "kyma-system", "default")
"""The resource in which users choose the modules that KLM manages."""
KYMAS = "kymas"


def klm_rights() -> set[Right]:
    """The rights to read the Kyma resource, and the catalog in the cluster. No run without KLM needs them."""
    lists = {Right("list", GROUP, plural) for plural in ("modulereleasemetas", "moduletemplates")}
    return {Right("get", GROUP, KYMAS, KYMA.namespace, KYMA.name), *lists}


def rights_to_order() -> set[Right]:
    """The right to write entries into the Kyma resource. Without that to watch it, it is read repeatedly."""
    return {Right("patch", GROUP, KYMAS, KYMA.namespace, KYMA.name)}
