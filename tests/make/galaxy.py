# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The step `galaxy`: imports the tarball of a release as Galaxy does, with no other collection beside it."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.cluster.paths import BUILD, ROOT

from . import setup, tarball
from .command import CommandError, read
from .environments import LINT
from .outcome import Outcome, failed, passed

FOLDER = BUILD / "galaxy"
IMPORT = """
import sys
from galaxy_importer import config, main
config.Config.DEFAULTS.update(check_required_tags=True, run_ansible_lint=False)
sys.exit(main.main(sys.argv[1:]))
"""
"""The importer with our settings, as its environment has no variable for them. The step `lint` lints."""
RESULT = "importer_result.json"
FINDING = ("WARNING", "ERROR")
EVENT_SOURCES = "eda/plugins/event_source"
TYPES = {"modules": "module"}
"""The importer's name of a type of plugins, where it differs from the folder's."""
UNDOCUMENTED = frozenset({"action", "doc_fragments", "module_utils", "plugin_utils"})
"""Folders of plugins that `ansible-doc` knows no documentation of."""
Content = tuple[str, str]
"""The type of a plugin or role, and its name."""


def galaxy() -> Outcome:
    """Build the tarball of a release, and check what Galaxy's importer makes of it."""
    setup.for_linters()
    shutil.rmtree(FOLDER, ignore_errors=True)
    result = import_tarball(tarball.build_release(FOLDER), FOLDER)
    every = contents_of(ROOT)
    missing = sorted(every - documented(result))
    if missing:
        return failed(
            f"Galaxy shows no documentation of {len(missing)} of {len(every)}: "
            + ", ".join(f"{kind} {name}" for kind, name in missing)
        )
    return passed(f"Galaxy shows the documentation of all {len(every)} modules, plugins and roles")


def import_tarball(path: Path, folder: Path) -> Mapping[str, Any]:
    """What Galaxy's importer makes of a tarball: `docs_blob` is what Galaxy shows of it.

    The importer reports success in spite of findings, so its output counts.

    Args:
        path: of the tarball.
        folder: gets the result, and a home without any collection.

    Raises:
        CommandError: if the importer refuses the tarball or has findings.
    """
    home = folder / "home"
    home.mkdir(parents=True)
    clean = ("env", "-i", f"PATH={LINT.bin}{os.pathsep}{os.defpath}", f"HOME={home}")
    code, printed = read([*clean, LINT.python, "-I", "-c", IMPORT, path], cwd=folder)
    findings = [line for line in printed.splitlines() if line.startswith(FINDING)]
    if code or findings:
        lines = "\n".join(findings) or printed
        raise CommandError(f"Galaxy's importer has findings on {path.name}:\n{lines}")
    result: Mapping[str, Any] = json.loads((folder / RESULT).read_text(encoding="utf-8"))
    return result


def contents_of(collection: Path) -> set[Content]:
    """All that must have documentation: each role, and each plugin of a type that can have one."""
    folders = {
        TYPES.get(folder.name, folder.name): folder
        for folder in (collection / "plugins").iterdir()
        if folder.is_dir() and folder.name not in UNDOCUMENTED
    }
    folders[EVENT_SOURCES] = collection / "extensions" / EVENT_SOURCES
    plugins = {
        (kind, file.stem)
        for kind, folder in folders.items()
        for file in folder.glob("*.py")
        if file.stem != "__init__"
    }
    return plugins | {("role", folder.name) for folder in (collection / "roles").iterdir() if folder.is_dir()}


def documented(result: Mapping[str, Any]) -> set[Content]:
    """What has documentation in the result of the importer."""
    return {
        (one["content_type"], one["content_name"])
        for one in result["docs_blob"]["contents"]
        if _has_documentation(one)
    }


def _has_documentation(content: Mapping[str, Any]) -> bool:
    if content["content_type"] == "role":
        return bool(content["readme_html"])
    strings = content["doc_strings"] or {}
    doc = strings.get("doc") or {}
    needed = [doc.get("short_description"), doc.get("description")]
    if content["content_type"] == "module":
        needed += [strings.get("examples"), strings.get("return")]
    return all(needed)
