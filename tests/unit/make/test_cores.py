# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The environments of the supported versions of ansible-core."""

from __future__ import annotations

import pytest

from tests.make.cores import SUPPORTED, Core, requirements_of
from tests.make.locks import current_lock_of


@pytest.mark.parametrize("core", SUPPORTED, ids=lambda core: core.version)
def test_each_supported_version_is_locked(core: Core) -> None:
    locks = [current_lock_of(file).read_text(encoding="utf-8") for file in requirements_of(core)]
    assert f"\nansible-core=={core.version}." in "".join(locks)
