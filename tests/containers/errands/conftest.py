# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The namespace of all errands, and the player of all stories."""

from __future__ import annotations

import secrets
from collections.abc import Iterator

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.connection import connect
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.errand_definition import (
    ERRAND_KINDS,
)

from tests.support.errands import ErrandSite
from tests.support.stories import StoryPlayer


@pytest.fixture(scope="session")
def errand_site(kind_kubeconfig: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ErrandSite]:
    """A namespace with errands that are reconciled. The definition stays, as others may use it."""
    ERRAND_KINDS.install(connect({"kubeconfig": kind_kubeconfig}))
    folder = tmp_path_factory.mktemp("errands")
    site = ErrandSite(kind_kubeconfig, folder, f"test-errands-{secrets.token_hex(3)}")
    yield site
    site.close()


@pytest.fixture(scope="session")
def story_player(request: pytest.FixtureRequest, errand_site: ErrandSite) -> Iterator[StoryPlayer]:
    """Plays the stories of the tests that were selected."""
    tests = [getattr(item, "function", None) for item in request.session.items]
    stories = [getattr(test, "story", None) for test in tests]
    player = StoryPlayer(errand_site, [one for one in stories if one is not None])
    yield player
    player.close()
