# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads what commands need to reach the cluster of a task."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from ansible import constants as C
from ansible import context

from ...module_utils._cluster.errors import Unconfigured
from ...module_utils._cluster.http.connection import resolved_kubeconfig, with_environment
from ...module_utils._redaction import without_login
from .command_target import PLACEHOLDER, CommandTarget


def task_target(params: Mapping[str, Any], task_vars: Mapping[str, Any], is_local: bool) -> CommandTarget:
    """The target of commands in the result of a task.

    Args:
        params: validated options of the task, with paths resolved; the environment is the task's.
        task_vars: Ansible's variables for the task.
        is_local: whether the task works on this machine, as this user.
    """
    host = str(task_vars.get("inventory_hostname") or "")
    worked_on = next(iter(task_vars.get("ansible_delegated_vars") or ()), host)
    kubeconfig, name, note = _named_cluster(params, "" if is_local else worked_on)
    is_listed = host in (task_vars.get("groups") or {}).get("all", ())
    values = {"kyma_kubeconfig": kubeconfig, "kyma_context": name}
    return CommandTarget(
        kubeconfig=kubeconfig,
        context=name,
        host=host if is_listed else "",
        inventory=tuple(context.CLIARGS.get("inventory") or ()),
        # Also where the inventory has them: its values may differ from the options of the task.
        variables={key: text for key, text in values.items() if text},
        is_local=is_local,
        note=note,
    )


def _named_cluster(params: Mapping[str, Any], elsewhere: str) -> tuple[str, str, str]:
    """A kubeconfig, a context, and a note for people.

    Args:
        params: see :func:`task_target`.
        elsewhere: the host whose files the options name; empty for this machine.
    """
    options = with_environment(params)
    given, name = options.get("kubeconfig") or "", str(options.get("context") or "")
    if options.get("host"):
        source = "the option host" if params.get("host") else "the environment variable K8S_AUTH_HOST"
        server = without_login(str(options["host"]))
        return _placeholder(f"a context of {server}, because {source} names this cluster")
    if isinstance(given, Mapping):
        return _placeholder("a context of this cluster, because the option kubeconfig has no path")
    if str(given).startswith(f"{C.DEFAULT_LOCAL_TMP}{os.sep}"):
        return _placeholder("a context of this cluster, because its kubeconfig is encrypted")
    if elsewhere:
        return str(given), name, f"run kubectl on {elsewhere}, as its kubeconfig is there"
    try:
        path, name = resolved_kubeconfig(options)
    except (Unconfigured, OSError, ValueError, TypeError, AttributeError, RecursionError):
        # The message of the task says what is wrong with the file.
        note = "" if name else f"{PLACEHOLDER} stands for a context of it: no kubeconfig can be read"
        return str(given), name or PLACEHOLDER, note
    if not name:
        return _placeholder("a context of this cluster, because the task used the service account of its pod")
    return path, name, ""


def _placeholder(meaning: str) -> tuple[str, str, str]:
    return "", PLACEHOLDER, f"{PLACEHOLDER} stands for {meaning}"
