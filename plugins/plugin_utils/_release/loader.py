# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Finds, reads and renders a release."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from ...module_utils._redaction import without_login
from ...module_utils._release.manifests import dump_warnings
from ...module_utils._release.model import ComponentEntry, Content, Release, ReleaseRequest
from ...module_utils._release.release_error import MOST_SHOWN, Problem, ReleaseError, release_error
from ...module_utils._text import first_of
from .component_contents import Contents, OnRead, ignore_count
from .component_list import ComponentList, read_component_list
from .fingerprint import fingerprint, tree_digest
from .layout import Chart, ComponentSource, layout_of
from .problems import ProblemCollector
from .profiles import choose_profile
from .programs import Outputs, run_always
from .release_file import ReleaseDeclaration, parse_release_file
from .source import Source, open_source
from .user_values import UserValues, read_user_values
from .version import are_same_version, is_version
from .yaml_files import read_text

Answer = TypeVar("Answer")


def load_release(
    request: ReleaseRequest,
    skip: Mapping[str, str] | None = None,
    earlier: Release | None = None,
    digest: str = "",
    on_read: OnRead = ignore_count,
    outputs: Outputs = run_always,
) -> Release:
    """Read a release and render it for a profile and the user's values, without access to a cluster.

    Args:
        request: its place, and how to render it.
        skip: sources of components that need not be read if they have not changed. With any, the CRDs need
            not be read either.
        earlier: the same release with the parts that were read before; they do not change.
        digest: its fingerprint, if known.
        on_read: called before and after the reading of each component, by several threads.
        outputs: returns outputs of programs that are known.

    Raises:
        ReleaseError: the release has errors, each with file and line; or it has changed meanwhile.
    """
    digest = digest or fingerprint(request, outputs)
    with open_source(request) as source:
        release = _Loading(request, source, skip or {}, earlier, on_read, outputs).release(digest)
        of_files = earlier.release_digest if earlier else tree_digest(source.root, request.limits)
    if fingerprint(request, outputs) != digest:
        raise release_error(
            "its files changed while they were read: try again when they rest", without_login(request.source)
        )
    return replace(release, release_digest=of_files)


def load_version(request: ReleaseRequest) -> str:
    """The version of a release.

    Raises:
        ReleaseError: its description has errors, or nothing says which version it is.
    """
    with open_source(request) as source:
        return _Loading(request, source).version()


def load_component(request: ReleaseRequest, name: str) -> Content:
    """Read and render one component of a release alone.

    Raises:
        ReleaseError: the component has errors, or the release has no such component.
    """
    with open_source(request) as source:
        return _Loading(request, source).component(name)


def load_crds(request: ReleaseRequest) -> Content:
    """Read the CRDs of a release alone.

    Raises:
        ReleaseError: the CRDs have errors.
    """
    with open_source(request) as source:
        return _Loading(request, source).crds()


def is_read_except(release: Release, skip: Mapping[str, str]) -> bool:
    """Whether all necessary parts of a release were read; see :func:`load_release`."""
    unread = {name: content.source_hash for name, content in release.content.items() if not content.is_read}
    same = all(skip.get(name) == source for name, source in unread.items())
    return same and (release.crds.is_read or bool(skip))


class _Loading:
    """One read of a release, which collects all errors before it fails."""

    def __init__(
        self,
        request: ReleaseRequest,
        source: Source,
        skip: Mapping[str, str] | None = None,
        earlier: Release | None = None,
        on_read: OnRead = ignore_count,
        outputs: Outputs = run_always,
    ) -> None:
        self._request = request
        self._source = source
        self._layout = layout_of(source.root)
        # Content that was read before has the same warnings as before.
        self._findings = ProblemCollector(warnings=list(earlier.warnings) if earlier else [])
        self._contents = Contents(
            source, self._layout, request.helm_binary, self._findings, skip or {}, earlier, on_read, outputs
        )

    def release(self, digest: str) -> Release:
        declared = self._findings.attempt(self._declared, ReleaseDeclaration())
        version = self._findings.attempt(lambda: self._version(declared), "")
        values = self._findings.attempt(
            lambda: read_user_values(self._request.values_files, self._request.overrides), UserValues()
        )
        crds = self._findings.attempt(self._contents.crds, Content(()))
        listed, problems = self._findings.attempt(self._list, (ComponentList(), tuple[Problem, ...]()))
        self._findings.problems += problems
        is_whole = bool(listed.entries) and not problems
        profile = self._findings.attempt(lambda: self._profile(listed), None) if is_whole else None
        content, crds = self._content(listed, profile, values, crds)
        if self._findings.problems:
            # Errors of the CRDs are reported with those of components, even if the CRDs were not needed.
            self._contents.read_crds(crds)
        self._findings.refuse()
        warnings = [*dump_warnings(list(self._findings.dumps)), *self._findings.warnings]
        return Release(
            version=version,
            digest=digest,
            profile=profile or "",
            default_namespace=listed.default_namespace,
            components=listed.entries,
            content=content,
            crds=crds,
            upgrades_from=declared.upgrades_from,
            kubernetes=declared.kubernetes,
            warnings=tuple(first_of(list(dict.fromkeys(warnings)), MOST_SHOWN, "more warnings")),
        )

    def version(self) -> str:
        return self._version(self._declared())

    def component(self, name: str) -> Content:
        listed = self._components()
        entry = next((entry for entry in listed.entries if entry.name == name), None)
        if entry is None:
            raise release_error(f"the release has no component {name}", self._source.label)
        source = self._findings.attempt(
            lambda: dict(self._sources([entry], self._profile(listed))).get(name), None
        )
        content = Content(())
        if source:
            values = read_user_values(self._request.values_files, self._request.overrides)
            content = self._contents.read_one(entry, source, values)
        self._findings.refuse()
        return content

    def crds(self) -> Content:
        content = self._contents.read_crds(Content((), is_read=False))
        self._findings.refuse()
        return content

    def _declared(self) -> ReleaseDeclaration:
        path = self._layout.release_file()
        return parse_release_file(self._text(path), self._source.show(path)) if path else ReleaseDeclaration()

    def _version(self, release_file: ReleaseDeclaration) -> str:
        declared, given = release_file.version, self._request.version.removeprefix("v")
        if given and not is_version(given):
            raise release_error(f"{given!r} is not a version of a release")
        if given and declared and not are_same_version(given, declared):
            raise release_error(f"the release says that it is {declared}, not {given}", self._source.label)
        version = declared or given or self._source.version()
        if not version:
            raise release_error(
                "nothing tells the release's version: give it as release_version, write it to its "
                'release.yaml (version: "2.9"), or name its folder for it, like kyma-2.9',
                self._source.label,
            )
        return version

    def _components(self) -> ComponentList:
        listed, problems = self._list()
        if problems:
            raise ReleaseError(problems)
        return listed

    def _list(self) -> tuple[ComponentList, tuple[Problem, ...]]:
        """The readable part of the component list, and its errors."""
        if self._request.component_list:
            file = self._request.component_list
            return read_component_list(read_text(Path(file).expanduser(), file), file)
        path = self._layout.component_list()
        if path is None:
            raise release_error(
                "there is no components.yaml (or .yml, .json), neither here nor in installation/resources",
                self._source.label,
            )
        return read_component_list(self._text(path), self._source.show(path))

    def _profile(self, listed: ComponentList) -> str:
        request = self._request
        return choose_profile(
            self._layout,
            listed.entries,
            request.profile,
            self._source.label,
            is_deployed=request.is_deployed_profile,
        )

    def _content(
        self, listed: ComponentList, profile: str | None, values: UserValues, crds: Content
    ) -> tuple[dict[str, Content], Content]:
        """Content by component, and the CRDs.

        Without a profile, the list or the profile has an error. Then only existing content is read: the rest
        may be missing because of that.
        """
        sources = dict(self._sources(listed.entries, profile))
        names = {entry.name for entry in listed.entries}
        if profile is not None:
            charts = {name for name, content in sources.items() if isinstance(content, Chart)}
            self._findings.problems += values.problems(charts, names - charts)
        self._findings.warnings += values.warnings(names)
        entries = [entry for entry in listed.entries if entry.name in sources]
        rendered, crds = self._contents.read_all(entries, sources, values, crds)
        return {entry.name: rendered[entry.name] for entry in entries if entry.name in rendered}, crds

    def _sources(
        self, entries: Iterable[ComponentEntry], profile: str | None
    ) -> Iterator[tuple[str, ComponentSource]]:
        chosen = self._request.profile if profile is None else profile
        for entry in entries:
            source = self._layout.find(entry.name, chosen, entry.source)
            if source:
                yield entry.name, source
            elif profile is not None:
                places = self._layout.places(entry.name, chosen, entry.source)
                listed = ", ".join(path.relative_to(self._source.root).as_posix() for path in places)
                self._findings.problems.append(
                    Problem(
                        f"the component {entry.name} has no content; looked for: {listed}", self._source.label
                    )
                )

    def _text(self, path: Path) -> str:
        return self._source.text(path)
