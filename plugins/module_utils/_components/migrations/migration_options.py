# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The user's options for migrations, which also those requests have that run none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..._progress import GRACE


@dataclass(frozen=True)
class MigrationOptions:
    """The user's options for migrations.

    Attributes:
        skip: ids of migrations that take no part.
        variables: the variables that their code may read.
        grace: seconds for running work to end after a cancellation.
    """

    skip: frozenset[str] = frozenset()
    variables: Mapping[str, Any] = field(default_factory=dict)
    grace: float = GRACE
