# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which manifests a catalog may name on the controller."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._errors import LifecycleError
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._modules.module_sources import ModuleSources

from tests.support.file_server import FileServer

TEMPLATE = """\
apiVersion: operator.kyma-project.io/v1beta2
kind: ModuleTemplate
metadata: {name: keda-1.0.0}
spec: {moduleName: keda, version: 1.0.0, resources: [{name: rawManifest, link: LINK}]}
"""


def sources(tmp_path: Path, *catalog: Any, **params: Any) -> ModuleSources:
    cache = str(tmp_path / "cache")
    return ModuleSources({"catalog": [*catalog], "catalog_cache": cache, "checksums": {}, **params})


def link_of(found: ModuleSources) -> str:
    ((_origin, template),) = found.documents()
    return str(template["spec"]["resources"][0]["link"])


@pytest.fixture
def manifest(tmp_path: Path) -> Path:
    path = tmp_path / "catalog" / "manifests" / "keda.yaml"
    path.parent.mkdir(parents=True)
    path.write_text("the manifest")
    return path


def test_a_relative_path_starts_at_the_template_that_names_it(tmp_path: Path, manifest: Path) -> None:
    template = tmp_path / "catalog" / "keda.yaml"
    template.write_text(TEMPLATE.replace("LINK", "manifests/keda.yaml"))
    for place in (template, template.parent):
        found = sources(tmp_path, str(place))
        assert link_of(found) == str(manifest)
        assert found.manifest(str(manifest)) == "the manifest"
        assert len(found.digest(str(manifest))) == 64


def test_a_url_in_a_local_file_stays_what_it_is(tmp_path: Path, manifest: Path) -> None:
    for link in ("https://host.invalid/keda.yaml", manifest.as_uri()):
        template = tmp_path / "catalog" / "keda.yaml"
        template.write_text(TEMPLATE.replace("LINK", link))
        assert link_of(sources(tmp_path, str(template))) == link
    assert sources(tmp_path, str(template)).manifest(manifest.as_uri()) == "the manifest"


def test_what_was_downloaded_or_is_in_the_cluster_reads_no_file_of_the_controller(
    tmp_path: Path, manifest: Path, server: FileServer
) -> None:
    for link in (str(manifest), manifest.as_uri()):
        url = server.put("keda.yaml", TEMPLATE.replace("LINK", link))
        for catalog in ([url], ["cluster"]):
            found = sources(tmp_path, *catalog)
            assert found.digest(link) == ""
            with pytest.raises(LifecycleError, match=r"is a file of the controller.* set manifest to it"):
                found.manifest(link)


@pytest.mark.parametrize("one", [True, False])
def test_a_user_may_name_any_file(tmp_path: Path, manifest: Path, one: bool) -> None:
    asked = {"name": "keda", "manifest": str(manifest)}
    params: dict[str, Any] = asked if one else {"manifest": None, "modules": [asked, {"name": "nats"}]}
    assert sources(tmp_path, "cluster", **params).manifest(str(manifest)) == "the manifest"
