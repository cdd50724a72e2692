# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The documented connection options are those of kubernetes.core, in words of our own."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import yaml
from ansible_collections.kyma.lifecycle.plugins.doc_fragments.connection import ModuleDocFragment

from tests.support.needs import module_of_kubernetes_core

Options = Mapping[str, Mapping[str, Any]]
OURS: Options = yaml.safe_load(ModuleDocFragment.DOCUMENTATION)["options"]
COMPARED = ("type", "elements", "required", "default", "choices", "aliases")
VARIABLE = re.compile(r"\bK8S_AUTH_\w+")
MOST_COMMON_WORDS = 5
"""As many words in a row may be the same by chance, such as the list of the options of a login."""


@cache
def theirs() -> Options:
    fragment = module_of_kubernetes_core("doc_fragments.k8s_auth_options").ModuleDocFragment
    options: Options = yaml.safe_load(fragment.DOCUMENTATION)["options"]
    return options


def each(options: Options, before: str = "") -> Iterator[tuple[str, Mapping[str, Any]]]:
    """All options with those inside of them, each by its path."""
    for name, option in options.items():
        yield f"{before}{name}", option
        yield from each(option.get("suboptions") or {}, f"{name}.")


def text_of(option: Mapping[str, Any]) -> str:
    return " ".join(option["description"])


def variables_of(options: Options) -> dict[str, set[str]]:
    return {path: set(VARIABLE.findall(text_of(option))) for path, option in each(options)}


def phrases_of(text: str) -> set[tuple[str, ...]]:
    """All rows of words that are longer than what two texts may share."""
    words = re.findall(r"\w+", VARIABLE.sub("", text).lower())
    length = MOST_COMMON_WORDS + 1
    return {tuple(words[place : place + length]) for place in range(len(words) - length + 1)}


def test_options_and_their_types_are_those_module_of_kubernetes_core() -> None:
    ours, others = (
        {path: {key: option.get(key) for key in COMPARED} for path, option in each(options)}
        for options in (OURS, theirs())
    )
    assert ours == others


def test_the_documented_variables_are_those_that_kubernetes_core_reads() -> None:
    arguments = module_of_kubernetes_core("module_utils.args_common")
    read = {path: {f"K8S_AUTH_{path.upper().replace('.', '_')}"} for path, _option in each(OURS)}
    for other_name, name in arguments.AUTH_ARG_MAP.items():
        read[name].add(f"K8S_AUTH_{other_name.upper()}")
    read["proxy_headers"] = set()  # Only what is in it has variables.
    assert variables_of(OURS) == read


def test_all_variables_that_kubernetes_core_documents_are_documented() -> None:
    ours = variables_of(OURS)
    assert {
        path: names - ours[path] for path, names in variables_of(theirs()).items() if names - ours[path]
    } == {}


def test_no_description_is_copied() -> None:
    of_others = set().union(*(phrases_of(text_of(option)) for _path, option in each(theirs())))
    assert {
        path: same for path, option in each(OURS) if (same := phrases_of(text_of(option)) & of_others)
    } == {}
