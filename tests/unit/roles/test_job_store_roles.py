# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The ClusterRoles that the role of the job store ships are those that its module installs."""

from __future__ import annotations

import yaml
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.storage.storage_definition import (
    ROLES,
)

from tests.cluster.paths import ROOT

FILES = ROOT / "roles" / "kyma_job_store" / "files" / "cluster_roles"


def test_the_files_are_what_the_code_installs() -> None:
    shipped = {path.name: yaml.safe_load(path.read_text()) for path in FILES.iterdir()}
    by_name = {role["metadata"]["name"]: role for role in shipped.values()}
    assert by_name == {role["metadata"]["name"]: role for role in ROLES}
    assert set(shipped) == {"manager.yaml", "view.yaml"}
