# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which manifests a catalog may name on the controller."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._errors import LifecycleError
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._modules.hidden_logins import (
    options_without_logins,
)
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


def link_of(read: ModuleSources) -> str:
    ((_origin, template),) = read.documents()
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
        read = sources(tmp_path, str(place))
        assert link_of(read) == str(manifest)
        assert read.manifest(str(manifest)) == "the manifest"
        assert len(read.digest(str(manifest))) == 64


def test_a_url_in_a_local_file_stays_what_it_is(tmp_path: Path, manifest: Path) -> None:
    for link in ("https://host.invalid/keda.yaml", manifest.as_uri()):
        template = tmp_path / "catalog" / "keda.yaml"
        template.write_text(TEMPLATE.replace("LINK", link))
        assert link_of(sources(tmp_path, str(template))) == link
    assert sources(tmp_path, str(template)).manifest(manifest.as_uri()) == "the manifest"


def test_a_downloaded_catalog_and_the_cluster_read_no_file_of_the_controller(
    tmp_path: Path, manifest: Path, server: FileServer
) -> None:
    for link in (str(manifest), manifest.as_uri()):
        url = server.put("keda.yaml", TEMPLATE.replace("LINK", link))
        for catalog in ([url], ["cluster"]):
            read = sources(tmp_path, *catalog)
            assert read.digest(link) == ""
            with pytest.raises(LifecycleError, match=r"is a file of the controller.* set manifest to it"):
                read.manifest(link)


@pytest.mark.parametrize("one", [True, False])
def test_a_user_may_name_any_file(tmp_path: Path, manifest: Path, one: bool) -> None:
    entry = {"name": "keda", "manifest": str(manifest)}
    params: dict[str, Any] = entry if one else {"manifest": None, "modules": [entry, {"name": "nats"}]}
    assert sources(tmp_path, "cluster", **params).manifest(str(manifest)) == "the manifest"


def test_links_in_a_catalog_stay_inside_of_it_and_the_catalog_may_be_one(
    tmp_path: Path, manifest: Path
) -> None:
    folder, inside = manifest.parents[1], manifest.with_name("inside.yaml")
    manifest.rename(inside)
    manifest.symlink_to("inside.yaml")
    (folder / "keda.yaml").write_text(TEMPLATE.replace("LINK", "manifests/keda.yaml"))
    (tmp_path / "current").symlink_to(folder)
    read = sources(tmp_path, str(tmp_path / "current"))
    assert read.manifest(link_of(read)) == "the manifest"
    assert read.digest(link_of(read)) != ""


@pytest.mark.parametrize("place", ["manifests/keda.yaml", "manifests", "keda.yaml"])
def test_a_link_that_leads_out_of_a_catalog_is_refused(tmp_path: Path, manifest: Path, place: str) -> None:
    folder, outside = manifest.parents[1], tmp_path / "outside"
    (folder / "keda.yaml").write_text(TEMPLATE.replace("LINK", "manifests/keda.yaml"))
    (folder / place).rename(outside)
    (folder / place).symlink_to(outside)
    read = sources(tmp_path, str(folder))
    with pytest.raises(LifecycleError, match=r"keda.yaml: can't be read: a symbolic link leads"):
        read.manifest(link_of(read))


@pytest.mark.parametrize("path", ["../manifests/keda.yaml", "ABSOLUTE"])
def test_a_manifest_elsewhere_may_be_named_by_its_path_but_not_by_a_link_there(
    tmp_path: Path, path: str
) -> None:
    (tmp_path / "catalog").mkdir()
    (tmp_path / "manifests").mkdir()
    manifest = tmp_path / "manifests" / "keda.yaml"
    manifest.write_text("the manifest")
    link = path.replace("ABSOLUTE", str(manifest))
    (tmp_path / "catalog" / "keda.yaml").write_text(TEMPLATE.replace("LINK", link))
    read = sources(tmp_path, str(tmp_path / "catalog"))
    assert read.manifest(link_of(read)) == "the manifest"
    manifest.rename(tmp_path / "secret")
    manifest.symlink_to(tmp_path / "secret")
    read = sources(tmp_path, str(tmp_path / "catalog"))
    with pytest.raises(LifecycleError, match="a symbolic link leads from it out of"):
        read.manifest(link_of(read))


def test_a_file_that_the_user_names_may_be_a_link(tmp_path: Path, manifest: Path) -> None:
    link, template = tmp_path / "link.yaml", tmp_path / "template.yaml"
    link.symlink_to(manifest)
    (tmp_path / "real.yaml").write_text(TEMPLATE)
    template.symlink_to(tmp_path / "real.yaml")
    read = sources(tmp_path, str(template), modules=[{"name": "keda", "manifest": str(link)}])
    assert read.manifest(str(link)) == "the manifest"
    assert len(read.documents()) == 1


@pytest.mark.parametrize("name", ["catalog", "manifest"])
def test_texts_are_limited(tmp_path: Path, manifest: Path, server: FileServer, name: str) -> None:
    url = server.put("m.yaml", "x" * 2_000_000)
    manifest.write_text("x" * 2_000_000)
    for place in (url, str(manifest)):
        options = {"modules": [{"manifest": place}]} if name == "manifest" else {}
        read = sources(tmp_path, *([] if options else [place]), limits={"rendered_mb": 1}, **options)
        with pytest.raises(LifecycleError, match=r"more than 1 MB.* raise the limit rendered_mb"):
            read.manifest(place)


def test_the_copies_are_named_without_a_login(tmp_path: Path, server: FileServer) -> None:
    """A copy is found again after its login has changed, and no name can be tried out for a login."""
    url = server.put("keda.yaml", TEMPLATE)
    names = set()
    for login in ("one:hunter2@", "two:hunter3@", ""):
        assert sources(tmp_path, url.replace("//", f"//{login}")).documents()
        names |= {path.name for path in (tmp_path / "cache").iterdir()}
    assert len(names) == 2


def test_manifests_whose_urls_differ_in_their_queries_are_distinct(
    tmp_path: Path, server: FileServer
) -> None:
    url = server.put("keda.yaml", "the manifest")
    entries = [{"name": str(number), "manifest": f"{url}?token={number}"} for number in range(2)]
    params = {"catalog": [], "catalog_cache": str(tmp_path), "checksums": {}, "modules": entries}
    hidden = [one["manifest"] for one in options_without_logins(params)["modules"]]
    assert len(set(hidden)) == 2
    assert not any("token" in link or "?" in link for link in hidden)
    read = ModuleSources(params)
    assert [read.manifest(link) for link in hidden] == ["the manifest"] * 2
    assert server.requested == ["/keda.yaml?token=0", "/keda.yaml?token=1"]
