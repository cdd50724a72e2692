# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Results without the values of options that have ``no_log``, as AnsibleModule returns them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

try:
    from ansible.module_utils.secrets import mask_secrets, register_secrets
except ImportError:
    # For ansible-core before 2.22, which deprecates the function that hid them before.
    from ansible.module_utils.common.parameters import remove_values

    hide_secrets = remove_values
else:

    def hide_secrets(value: Any, secrets: Collection[str]) -> Any:
        """A copy of a value in which no text contains a secret.

        Args:
            value: a text, or a result of plain values, at any depth.
            secrets: what to hide.
        """
        register_secrets(secrets)
        return _masked(value)

    def _masked(value: Any) -> Any:
        if isinstance(value, str):
            return mask_secrets(value)
        if isinstance(value, Mapping):
            return {key: _masked(one) for key, one in value.items()}
        if isinstance(value, (list, tuple)):
            return [_masked(one) for one in value]
        return value
