# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The user's values for charts: files in their order, then ``component.key=value``; later wins.

A values file has one key per component, with the values for that component's chart. It may also have
``global``, which all charts get as their ``global``.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Any

from ansible.utils.vars import merge_hash

from ...module_utils._release.release_error import Problem, ReleaseError, release_error
from ...module_utils._release.yaml_documents import read_documents
from .yaml_files import read_text

GLOBAL = "global"
_UNESCAPED_DOT = re.compile(r"(?<!\\)\.")
_INTEGER = re.compile(r"0|-?[1-9][0-9]*")
_WORDS = {"true": True, "false": False, "null": None}

Values = dict[str, Any]


def parse_values_file(text: str, file: str) -> Values:
    """The values of one file, per component.

    Raises:
        ReleaseError: the file is no values file.
    """
    documents = read_documents(text, file)
    if not documents:
        return {}
    value = documents[0].value
    if len(documents) > 1 or not isinstance(value, dict):
        raise release_error("a values file is one mapping with a key per component", file, documents[-1].line)
    problems = [
        Problem(f"the key {key!r} is there twice", file, line) for key, line in documents[0].duplicates
    ]
    problems += [
        Problem(f"the values of {key} must be a mapping", file, documents[0].line)
        for key, item in value.items()
        if item is not None and not isinstance(item, dict)
    ]
    if problems:
        raise ReleaseError(problems)
    return {key: item or {} for key, item in value.items()}


def parse_override(override: str) -> Values:
    r"""The values for ``component.key.subkey=value``; ``\.`` is a dot inside a key.

    ``true``, ``false``, ``null`` and whole numbers have their own types. All else is a string, with commas
    and braces: lists are written in a values file.

    Raises:
        ReleaseError: the text has another form. The message does not hold the value, which may be a secret.
    """
    path, equals, text = override.partition("=")
    keys = [key.replace("\\.", ".") for key in _UNESCAPED_DOT.split(path.strip())]
    if not equals or len(keys) < 2 or not all(keys):
        raise release_error(f"the override of {path!r} is not of the form component.key=value")
    if "[" in path:
        raise release_error(f"the override of {path!r} names a list's item: write the list in a values file")
    value: Any = _WORDS[text] if text in _WORDS else int(text) if _INTEGER.fullmatch(text) else text
    for key in reversed(keys[1:]):
        value = {key: value}
    return {keys[0]: value}


def merge_values(layers: Iterable[Mapping[str, Any]]) -> Values:
    """Mappings merged as in Helm: mappings are merged, all else is replaced."""
    merged: Values = reduce(merge_hash, layers, {})
    return merged


@dataclass(frozen=True)
class Layer:
    """Values from one place: a file, or an override if ``file`` is empty."""

    values: Values
    file: str = ""

    def problem(self, message: str, key: str) -> Problem:
        return Problem(message, self.file) if self.file else Problem(f"the override of {key}: {message}")


@dataclass(frozen=True)
class UserValues:
    """All values that a user gives; later layers win."""

    layers: tuple[Layer, ...] = ()

    def for_component(self, name: str) -> Values:
        """The values of one component's chart: its own, over those of ``global`` as its ``global``."""
        whole = merge_values(layer.values for layer in self.layers)
        shared = {GLOBAL: whole[GLOBAL]} if whole.get(GLOBAL) else {}
        return merge_values([shared, whole.get(name, {})])

    def problems(self, charts: Collection[str], others: Collection[str]) -> list[Problem]:
        """Values without an effect.

        Args:
            charts: names of components that are charts.
            others: names of components that are not.
        """
        problems: list[Problem] = []
        for layer in self.layers:
            for key in layer.values:
                if key in others:
                    problems.append(
                        layer.problem(f"{key} is no Helm chart in this release: values can't change it", key)
                    )
                elif key == GLOBAL and not charts:
                    problems.append(
                        layer.problem(
                            "no component of this release is a Helm chart: values change nothing", key
                        )
                    )
                elif key != GLOBAL and key not in charts and not layer.file:
                    problems.append(layer.problem(f"the release has no component {key}", key))
        return problems

    def warnings(self, components: Collection[str]) -> list[str]:
        """Keys of files that name no component: misspelt, or for another release."""
        return [
            f"{layer.file}: its values for {key} are not used, as the release has no such component"
            for layer in self.layers
            if layer.file
            for key in layer.values
            if key != GLOBAL and key not in components
        ]


def read_user_values(files: Iterable[str], overrides: Iterable[str]) -> UserValues:
    """The user's values files and overrides.

    Raises:
        ReleaseError: the files or overrides have errors.
    """
    layers: list[Layer] = []
    problems: list[Problem] = []
    for file in files:
        try:
            layers.append(Layer(parse_values_file(read_text(Path(file).expanduser(), file), file), file))
        except ReleaseError as error:
            problems += error.problems
    for override in overrides:
        try:
            layers.append(Layer(parse_override(override)))
        except ReleaseError as error:
            problems += error.problems
    if problems:
        raise ReleaseError(problems)
    return UserValues(tuple(layers))
