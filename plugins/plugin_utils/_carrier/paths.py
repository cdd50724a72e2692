# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The places on the controller that a path from a user may mean."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ansible import context

from ...module_utils._carrier.module_materials import CLUSTER_CATALOG, COMMUNITY_CATALOG
from ...module_utils._carrier.options import PATH_LISTS
from ...module_utils._errors import LifecycleError
from ...module_utils._redaction import without_login

_WITH_OTHER_VARIABLES = {"catalog": "catalog (kyma_modules_catalog)", "manifest": "manifest (kyma_modules)"}
"""Options, with the variable of the role that has them: that of most is named like the option."""


class NoSuchPath(LifecycleError):
    """A path of an option exists in none of the places that its user could have meant."""

    state = "refused"


class SearchPath:
    """The folders that a relative path may start from, the likeliest first.

    These are the folder of the playbook, that of the inventory, and the folder where ``ansible-playbook`` was
    started. The last one counts because a playbook called by its collection's name is not in a folder of the
    user's.
    """

    def __init__(self, folders: Iterable[str | Path | None]) -> None:
        # Made absolute, but not resolved: people recognise the path that they wrote.
        self.folders: Sequence[Path] = tuple(
            dict.fromkeys(Path(folder).absolute() for folder in folders if folder)
        )

    def candidates(self, path: str) -> list[Path]:
        """All places that ``path`` may mean, in the order of the search; only one if it is absolute."""
        given = Path(path).expanduser()
        return [given] if given.is_absolute() else [folder / given for folder in self.folders]

    def find(self, path: str, option: str) -> str:
        """The first place where ``path`` exists; a URL is returned unchanged.

        Raises:
            NoSuchPath: it is in none of them; the message lists the places.
        """
        if "://" in path:
            return path
        candidates = self.candidates(path)
        for candidate in candidates:
            if candidate.exists():
                return str(candidate)
        # A URL that is misspelt counts as a path.
        is_url = without_login(path) != path
        searched = ", ".join(str(candidate) for candidate in candidates if not is_url) or "a URL"
        named = _WITH_OTHER_VARIABLES.get(option, f"{option} (kyma_{option})")
        raise NoSuchPath(f"{named}: there is no {without_login(path)}; looked for {searched}")

    def find_or_leave(self, path: str) -> str:
        """The first place where ``path`` or ``files/path`` exists, or ``path`` unchanged."""
        given = self.candidates(path)
        in_files = self.candidates(str("files" / Path(path).expanduser()))
        candidates = [place for pair in zip(given, in_files, strict=True) for place in pair]
        # Unlike exists(), this does not fail in a folder that may not be read.
        return next((str(place) for place in candidates if os.access(place, os.F_OK)), path)


PATHS = ("release", "component_list")
CONNECTION_PATHS = ("ca_cert", "client_cert", "client_key")


def resolve_paths(
    params: Mapping[str, Any],
    places: SearchPath,
    *,
    decrypted: Callable[[str], str],
    local_connection: bool,
) -> dict[str, Any]:
    """The options that name a file on the controller, with paths that are right from any folder.

    Args:
        params: validated options.
        places: the places to search.
        decrypted: from the path of a file that may be encrypted by ansible-vault to one that isn't.
        local_connection: whether the connection's files (kubeconfig, certificates) are on the controller too.
            As in kubernetes.core they are in the folder of the playbook or in its ``files`` folder. If they
            aren't found they stay unchanged, and the connection reports the error.

    Raises:
        NoSuchPath: of a release, its values or migrations.
    """
    resolved: dict[str, Any] = {}
    for option in PATHS:
        if params.get(option):
            resolved[option] = places.find(params[option], option)
    for option in PATH_LISTS:
        if params.get(option):
            resolved[option] = [places.find(path, option) for path in params[option]]
    if params.get("release_catalog"):
        resolved["release_catalog"] = [_resolved_entry(entry, places) for entry in params["release_catalog"]]
    if params.get("catalog"):
        resolved["catalog"] = [_resolved_source(entry, places, "catalog") for entry in params["catalog"]]
    if params.get("manifest"):
        resolved["manifest"] = places.find(params["manifest"], "manifest")
    if params.get("modules"):
        resolved["modules"] = [
            {**one, "manifest": places.find(one["manifest"], "manifest")} if one.get("manifest") else one
            for one in params["modules"]
        ]
    if "values_files" in resolved:
        resolved["values_files"] = [decrypted(path) for path in resolved["values_files"]]
    if local_connection:
        resolved.update(_connection_paths(params, places, decrypted))
    return resolved


def _resolved_entry(entry: Any, places: SearchPath) -> Any:
    """An entry of a catalog with a path that is right from any folder; other values stay for their reader."""
    if isinstance(entry, Mapping) and isinstance(entry.get("release"), str):
        return {**entry, "release": places.find(entry["release"], "release_catalog")}
    return places.find(entry, "release_catalog") if isinstance(entry, str) else entry


def _resolved_source(entry: Any, places: SearchPath, option: str) -> Any:
    """An entry of a catalog of modules, in the same way; the words for known catalogs stay."""
    if isinstance(entry, Mapping) and "source" in entry:
        return {**entry, "source": _resolved_source(entry["source"], places, option)}
    is_path = isinstance(entry, str) and entry not in (CLUSTER_CATALOG, COMMUNITY_CATALOG)
    return places.find(entry, option) if is_path else entry


def _connection_paths(
    params: Mapping[str, Any], places: SearchPath, decrypted: Callable[[str], str]
) -> dict[str, str]:
    def find(path: str) -> str:
        whole = places.find_or_leave(path)
        # What can't be read is left to the task, which says so.
        return decrypted(whole) if os.access(whole, os.R_OK) and Path(whole).is_file() else whole

    resolved = {option: find(params[option]) for option in CONNECTION_PATHS if params.get(option)}
    if isinstance(params.get("kubeconfig"), str):
        parts = params["kubeconfig"].split(os.pathsep)
        resolved["kubeconfig"] = os.pathsep.join(find(part) for part in parts if part)
    return resolved


KUBECONFIG_VARIABLES = ("K8S_AUTH_KUBECONFIG", "KUBECONFIG")


def absolute_kubeconfigs(environment: Mapping[str, str]) -> dict[str, str]:
    """Kubeconfigs of the environment, with paths that don't depend on the working directory of a process.

    Ansible starts local modules in the playbook's folder, but people write the path for their own folder.
    """
    return {
        name: os.pathsep.join(
            str(Path(path).expanduser().absolute()) if path else "" for path in text.split(os.pathsep)
        )
        for name in KUBECONFIG_VARIABLES
        if (text := environment.get(name))
    }


def folders_of_named_files(task_vars: Mapping[str, Any]) -> list[Path]:
    """The folders of the playbook and the inventory that the user named, as absolute paths.

    A playbook that the user named may import one of a collection. Then Ansible reports the folder of that.
    ``ansible`` and ``ansible-console`` run no playbook: without ``--playbook-dir`` Ansible reports the
    working directory. For an inventory that is not a file (``-i host,``) it reports a folder named ``None``.
    """
    basedir = context.CLIARGS.get("basedir", False)
    playbook = task_vars.get("playbook_dir") if basedir or basedir is False else None
    named = context.CLIARGS.get("args", ()) if basedir is False else ()
    importing = [Path(book).absolute().parent for book in named if Path(book).is_file()]
    folders = [Path(folder) for folder in (playbook, *importing, task_vars.get("inventory_dir")) if folder]
    return list(dict.fromkeys(folder for folder in folders if folder.is_absolute()))
