# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The fields of a Service that the API server assigns: addresses, their families, and node ports. Pure."""

from __future__ import annotations

from ..._cluster.cluster import Object
from ..._cluster.fields.field_owners import owners_of
from ..._loose_json import fields_at, items_at
from .plain_fields import remove_fields

_ASSIGNED_FIELDS = ("clusterIP", "clusterIPs", "healthCheckNodePort", "ipFamilies", "ipFamilyPolicy")
_HEADLESS = "None"


def remove_assigned_fields(service: Object) -> None:
    """Remove what the API server has assigned, and target ports that equal the port.

    A value that the author chose stays. Of a new object, that is every value. Of a live object, it is those
    that a field manager has set.
    """
    spec = fields_at(service, "spec")
    is_live = "uid" in fields_at(service, "metadata")
    for field in _ASSIGNED_FIELDS:
        if is_live and spec.get(field) != _HEADLESS and not owners_of(service, "f:spec", f"f:{field}"):
            remove_fields(spec, field)
    # The API server keeps both equal.
    if spec.get("clusterIPs") == [spec.get("clusterIP")]:
        remove_fields(spec, "clusterIPs")
    for port in items_at(spec, "ports"):
        key = f'k:{{"port":{port.get("port")},"protocol":"{port.get("protocol") or "TCP"}"}}'
        is_chosen = owners_of(service, "f:spec", "f:ports", key, "f:nodePort")
        if (is_live and not is_chosen) or port.get("nodePort") == 0:
            remove_fields(port, "nodePort")
        if port.get("targetPort") in (port.get("port"), 0, ""):
            remove_fields(port, "targetPort")
