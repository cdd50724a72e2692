# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the sources of a catalog hold, and everything that is wrong with them at once."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._module_catalog.catalog import (
    read_catalog,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._modules import catalog_sources
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._modules.catalog_sources import (
    CatalogDocuments,
    CatalogSourceError,
    read_catalog_sources,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._modules.download_cache import DownloadCache

from tests.support.file_server import FileServer
from tests.support.real_modules import real_modules

TEMPLATE = """\
apiVersion: operator.kyma-project.io/v1beta2
kind: ModuleTemplate
metadata: {name: keda-1.0.0}
spec: {moduleName: keda, version: 1.0.0}
"""
META = """\
apiVersion: operator.kyma-project.io/v1beta2
kind: ModuleReleaseMeta
metadata: {name: keda}
spec: {moduleName: keda, channels: [{channel: fast, version: 1.0.0}]}
"""


def write(folder: Path, texts: Mapping[str, str]) -> Path:
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def refused(cache: DownloadCache, *catalog: Any) -> str:
    with pytest.raises(CatalogSourceError) as caught:
        read_catalog_sources(catalog, cache)
    return str(caught.value)


def origins(contents: CatalogDocuments) -> list[str]:
    return [document.origin for document in contents.documents]


def test_a_real_folder_is_read(cache: DownloadCache) -> None:
    folder = real_modules()
    contents = read_catalog_sources([str(folder / "docker-registry"), str(folder / "samples")], cache)
    assert (contents.notes, contents.warnings) == ([], [])
    assert origins(contents) == [
        *(f"{folder}/docker-registry/0.{minor}.0.yaml" for minor in (11, 12, 13, 14)),
        f"{folder}/samples/module-release-meta.yaml",
    ]
    catalog = read_catalog(contents.documents)
    assert [*catalog.modules] == ["docker-registry", "template-operator"]


def test_folders_are_read_to_their_end_without_what_is_hidden_or_something_else(
    cache: DownloadCache, tmp_path: Path
) -> None:
    values = "template: {{ .Values.template }}\n\tnot: YAML"
    folder = write(
        tmp_path / "catalog",
        {
            **dict.fromkeys(("a/b/one.yaml", ".git/e.yaml", "d.txt"), TEMPLATE),
            "c.yml": META,
            "f.json": json.dumps({"kind": "ConfigMap"}, indent="\t"),
            "values.yaml": values,
        },
    )
    assert (folder / ".git" / "e.yaml").is_file()
    contents = read_catalog_sources([str(folder)], cache)
    assert origins(contents) == [f"{folder}/c.yml", f"{folder}/a/b/one.yaml"]
    assert contents.notes == []


def test_several_documents_of_a_file_are_named_by_their_lines(cache: DownloadCache, tmp_path: Path) -> None:
    write(tmp_path, {"all.yaml": f"a: 1\n---\n{TEMPLATE}---\n{META}"})
    assert origins(read_catalog_sources([str(tmp_path / "all.yaml")], cache)) == [
        f"{tmp_path}/all.yaml:3",
        f"{tmp_path}/all.yaml:8",
    ]


def test_a_list_as_kubectl_prints_it(cache: DownloadCache, tmp_path: Path) -> None:
    items = [{"kind": "ModuleTemplate", "metadata": {"name": name}} for name in "ab"]
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": [*items, {"kind": "Pod"}]}, indent="\t")
    write(tmp_path, {"all.json": text})
    contents = read_catalog_sources([{"source": str(tmp_path / "all.json")}], cache)
    assert [document.document for document in contents.documents] == items


def test_the_list_of_community_modules_has_a_short_name(
    server: FileServer, cache: DownloadCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    modules = [{"kind": "ModuleTemplate", "metadata": {"name": name}} for name in "ab"]
    text = json.dumps([*modules, {"kind": "Pod"}], indent=2)
    url = server.put("all-modules.json", text)
    monkeypatch.setattr(catalog_sources, "COMMUNITY_LIST", url)
    pinned = {"source": "community", "sha256": hashlib.sha256(text.encode()).hexdigest()}
    for entry in ("community", pinned):
        contents = read_catalog_sources([entry], cache)
        assert [document.document for document in contents.documents] == modules
    assert contents.notes == []
    assert server.requested == ["/all-modules.json"]


def test_a_url_is_downloaded_and_pinned_on_request(
    server: FileServer, cache: DownloadCache, tmp_path: Path
) -> None:
    url = server.put("keda.yaml", TEMPLATE)
    sha256 = hashlib.sha256(TEMPLATE.encode()).hexdigest()
    unpinned = read_catalog_sources([f"{url}?token=secret"], cache)
    assert origins(unpinned) == [url]
    assert unpinned.notes == [
        f"unpinned: {url}. To refuse any other content, pin its sha256 (checksums): {sha256}"
    ]
    pinned = read_catalog_sources([{"source": url, "sha256": f"sha256:{sha256.upper()}"}], cache)
    assert (origins(pinned), pinned.notes) == ([url], [])
    assert server.requested == ["/keda.yaml?token=secret"]
    by_file_url = write(tmp_path, {"keda.yaml": TEMPLATE}) / "keda.yaml"
    contents = read_catalog_sources([{"source": by_file_url.as_uri(), "sha256": sha256}], cache)
    assert (len(contents.documents), contents.notes) == (1, [])


def test_the_cluster_s_own_documents_are_read_elsewhere(cache: DownloadCache) -> None:
    assert read_catalog_sources(["cluster"], cache) == CatalogDocuments()


def test_a_source_without_any_document_is_a_note(cache: DownloadCache, tmp_path: Path) -> None:
    config = real_modules() / "samples" / "module-config.yaml"
    (tmp_path / "empty").mkdir()
    contents = read_catalog_sources([str(config), str(tmp_path / "empty")], cache)
    assert contents.documents == []
    assert contents.notes == [
        f"{one}: it has neither a ModuleTemplate nor a ModuleReleaseMeta"
        for one in (config, tmp_path / "empty")
    ]


def test_a_key_that_is_there_twice_is_a_warning(cache: DownloadCache, tmp_path: Path) -> None:
    write(
        tmp_path, {"a.yaml": f"{TEMPLATE}kind: ModuleTemplate\n", "b.yaml": "# ModuleTemplate\na: 1\na: 2\n"}
    )
    contents = read_catalog_sources([str(tmp_path)], cache)
    assert contents.warnings == [f"{tmp_path}/a.yaml:5: the key 'kind' is there twice; the last one counts"]


def test_everything_that_is_wrong_is_said_at_once(
    server: FileServer, cache: DownloadCache, tmp_path: Path
) -> None:
    folder = write(
        tmp_path / "catalog",
        {
            "bad.yaml": "kind: ModuleTemplate\na: [",
            "deep.yaml": "kind: ModuleTemplate\na: " + "[" * 150 + "]" * 150,
            "good.yaml": TEMPLATE,
            "worse.json": '{"kind": "ModuleTemplate",}',
        },
    )
    (folder / "latin.yaml").write_bytes(b"kind: ModuleTemplate # \xe9")
    message = refused(
        cache,
        str(folder),
        str(tmp_path / "gone"),
        f"{server.address}/gone.yaml",
        "oci://registry/catalog",
        {"source": str(folder), "sha256": "0" * 64},
        {"source": f"{folder}/good.yaml", "sha256": "0" * 64},
        {"source": f"{folder}/good.yaml", "sha256": "0"},
        {"source": "a", "checksum": "b"},
        7,
    )
    lines = message.split("\n- ")
    assert lines[0] == "the module catalog can't be used for 12 reasons:"
    starts = [
        f"{folder}/bad.yaml:3:1: not YAML: ",
        f"{folder}/deep.yaml: nested too deeply: more than 100 levels",
        f"{folder}/latin.yaml: not UTF-8 text: ",
        f"{folder}/worse.json:1:",
        f"{tmp_path}/gone: can't be read: No such file or directory",
        f"{server.address}/gone.yaml: can't be downloaded: ",
        "oci://registry/catalog: only paths and http, https and file URLs can be read. Download it, and",
        f"{folder}: a sha256 is for a file, and this is a folder: leave it out",
        f"{folder}/good.yaml: its sha256 is ",
        "the checksum '0' is not of the form sha256:",
        "catalog: {'source': 'a', 'checksum': 'b'} is neither a path nor a URL nor a mapping of source and",
        "catalog: 7 is neither a path",
    ]
    assert [line[: len(start)] for line, start in zip(lines[1:], starts, strict=True)] == starts
