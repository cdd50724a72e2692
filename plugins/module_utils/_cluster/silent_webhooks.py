# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a server says where an admission webhook doesn't answer it: pure.

Source: Kubernetes, ``k8s.io/apiserver/pkg/admission/plugin/webhook``: an InternalError, if its
``failurePolicy`` is ``Fail``.
"""

from __future__ import annotations

import re

from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import ApiError

_FAILED_CALL = re.compile(r'failed calling webhook "([^"]+)"')


def silent_webhook(error: Exception) -> str:
    """The name of the webhook that the server got no answer from, by its refusal; empty for other errors."""
    if not isinstance(error, ApiError) or error.status != 500:
        return ""
    found = _FAILED_CALL.search(error.api_message)
    return found[1] if found else ""
