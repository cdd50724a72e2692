# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The real modules of Kyma: templates, manifests and samples."""

from __future__ import annotations

import os
from pathlib import Path

import yaml
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object

from tests.support.needs import skip

ROOT = Path(__file__).resolve().parents[2]


def real_modules() -> Path:
    """The folder with the real modules of Kyma; the test is skipped if there is none."""
    data = Path(os.environ.get("KYMA_TEST_DATA") or ROOT.parent / "shared" / "data")
    if not (data / "kyma-modules").is_dir():
        skip(f"there are no real modules at {data}: set KYMA_TEST_DATA")
    return data / "kyma-modules"


def template_operator(folder: Path, manifest: str) -> Object:
    """A template for the real template-operator, with the real sample of a configuration.

    Args:
        folder: the result of :func:`real_modules`.
        manifest: the path of the manifest, or a link to it.
    """
    group = "operator.kyma-project.io"
    manager = {
        "group": "apps",
        "version": "v1",
        "kind": "Deployment",
        "name": "template-operator-controller-manager",
        "namespace": "template-operator-system",
    }
    return {
        "apiVersion": f"{group}/v1beta2",
        "kind": "ModuleTemplate",
        "metadata": {"name": "template-operator-1.0.6"},
        "spec": {
            "moduleName": "template-operator",
            "version": "1.0.6",
            "channel": "regular",
            "data": yaml.safe_load((folder / "samples" / "default-sample-cr.yaml").read_text()),
            "manager": manager,
            "associatedResources": [{"group": group, "version": "v1alpha1", "kind": "Sample"}],
            "resources": [{"name": "rawManifest", "link": manifest}],
        },
    }
