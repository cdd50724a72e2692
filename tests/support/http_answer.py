# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The answer of an HTTP server to one request."""

from __future__ import annotations

import urllib.error
import urllib.request


def http_answer(address: str, path: str, method: str = "GET") -> tuple[int, str]:
    """The status and the text of an answer, also of a failure.

    Args:
        address: host and port.
        path: with its query.
        method: of the request.
    """
    request = urllib.request.Request(f"http://{address}{path}", method=method)
    try:
        with urllib.request.urlopen(request, timeout=10) as response:
            return response.status, response.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()
