# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options that several modules share, and their values."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from .._cluster.http.connection import CONNECTION_SPEC
from .._cluster.http.kubeconfig import secrets_in
from .._redaction import remember_secret, secrets_of
from .._release.limits import LIMITS_SPEC, limits_of
from .._release.model import NO_PROFILE, ReleaseRequest
from .task import TaskDefinition

ArgumentSpec = dict[str, dict[str, Any]]

RELEASE_SPEC: ArgumentSpec = {
    "release": {"type": "str"},
    "release_checksum": {"type": "str"},
    "profile": {"type": "str"},
    "values_files": {"type": "list", "elements": "path", "default": []},
    "overrides": {"type": "list", "elements": "str", "default": []},
    "release_version": {"type": "str"},
    "component_list": {"type": "path"},
    "helm_binary": {"type": "str", "default": "helm"},
    **LIMITS_SPEC,
}
"""Documented in the fragments ``kyma.lifecycle.release`` and ``kyma.lifecycle.limits``."""

RENDERING_OPTIONS = frozenset(RELEASE_SPEC) - {"profile"}
"""Options without use once the release is rendered; migrations may ask for the profile."""

MIGRATION_SPEC: ArgumentSpec = {
    "migration_paths": {"type": "list", "elements": "path", "default": []},
    "migration_collections": {"type": "list", "elements": "str", "default": []},
}
"""Documented in the fragment ``kyma.lifecycle.migrations``."""

PATH_LISTS = ("values_files", "migration_paths")
"""Of these, the options that are lists of files or folders on the controller."""

CARRIER_ARGUMENT = "_kyma_carrier"
"""What an action plugin sends to its module besides the options; users cannot set it.

A dictionary of ``workdir`` (the folder that holds the materials), ``progress_file``, ``notes`` (see
:class:`~.task.ControllerNotes`), ``missing_roles``, ``fingerprint`` (of the release) and ``profile`` (that
the sent release is rendered for); each is optional.
"""
RELEASE_BUNDLE = "release.bundle"
CATALOG = "catalog.json"
MIGRATIONS_ARCHIVE = "migrations.zip"
MODULES_FILE = "modules.json"
"""The names of the materials in the folder ``workdir``."""


def release_request(params: Mapping[str, Any]) -> ReleaseRequest | None:
    """The release that the options request; None if they name no release.

    Args:
        params: validated options, with paths resolved on the controller.
    """
    source = params.get("release")
    if not source:
        return None
    return ReleaseRequest(
        source=source,
        checksum=params.get("release_checksum") or "",
        profile=requested_profile(params),
        values_files=tuple(params.get("values_files") or ()),
        overrides=tuple(params.get("overrides") or ()),
        version=params.get("release_version") or "",
        component_list=params.get("component_list") or "",
        helm_binary=params.get("helm_binary") or "helm",
        limits=limits_of(params),
    )


def requested_profile(params: Mapping[str, Any]) -> str:
    """The profile that the options request; empty also if they request none."""
    profile = str(params.get("profile") or "")
    return "" if profile == NO_PROFILE else profile


def full_argument_spec(own: Mapping[str, Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """A module's whole argument spec: its own options, and the connection's."""
    return {**CONNECTION_SPEC, **own}


def remember_secrets(definition: TaskDefinition, params: Mapping[str, Any]) -> set[str]:
    """Have the reports of unexpected exceptions hide all that a task knows as secret.

    Returns the credentials in a kubeconfig that is an option: the only ones that Ansible does not know.

    Args:
        definition: of the task.
        params: its options, with the logins of URLs.
    """
    hidden = [
        name for name, spec in full_argument_spec(definition.argument_spec).items() if spec.get("no_log")
    ]
    inline = set(secrets_in(params.get("kubeconfig")))
    logins = (secret for text in scalar_texts(params, params) for secret in secrets_of(text))
    for secret in (*scalar_texts(params, hidden), *inline, *logins):
        remember_secret(secret)
    return inline


def scalar_texts(params: Mapping[str, Any], options: Collection[str]) -> set[str]:
    """All values of some options, at any depth, as the texts that Ansible hides in results."""
    return {text for option in options for text in _scalar_texts(params.get(option))}


def _scalar_texts(value: object) -> Iterator[str]:
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list):
        for one in value:
            yield from _scalar_texts(one)
    elif value is not None:
        yield str(value)
