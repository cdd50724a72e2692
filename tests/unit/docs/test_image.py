# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The example's Containerfile fits the collection and the engine's Deployment; tests/containers builds it."""

from __future__ import annotations

import re

import yaml

from tests.cluster.paths import ROOT

CONTAINERFILE = (ROOT / "examples" / "image" / "Containerfile").read_text()


def test_the_requirements_are_those_of_the_collection() -> None:
    installed = "/opt/kyma/collections/ansible_collections/kyma/lifecycle"
    (requirements,) = re.findall(rf"-r {installed}/(\S+)", CONTAINERFILE)
    assert (ROOT / requirements).is_file()
    lowest = yaml.safe_load((ROOT / "meta" / "runtime.yml").read_text())["requires_ansible"]
    assert f'"ansible-core{lowest}"' in CONTAINERFILE


def test_the_engine_has_its_image_and_its_user() -> None:
    version = yaml.safe_load((ROOT / "galaxy.yml").read_text())["version"]
    items = yaml.safe_load((ROOT / "examples" / "errands" / "engine.yaml").read_text())["items"]
    pod = items[-1]["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert f"--tag {container['image']} " in CONTAINERFILE
    assert container["image"].endswith(f":{version}")
    assert f"USER {pod['securityContext']['runAsUser']}:" in CONTAINERFILE
    assert f'ENTRYPOINT ["{container["command"][0]}"]' in CONTAINERFILE
