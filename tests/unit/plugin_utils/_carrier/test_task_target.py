# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which kubeconfig, context, host and inventory commands get, by the options of their task."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from ansible import constants as C
from ansible import context
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http import connection
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._carrier.command_target import CommandTarget
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._carrier.task_target import task_target


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with a default kubeconfig, whose current context is ``us``."""
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("KUBECONFIG", "K8S_AUTH_KUBECONFIG", "K8S_AUTH_HOST", "K8S_AUTH_CONTEXT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(connection, "service_account_login", lambda _folder: None)
    monkeypatch.setattr(context, "CLIARGS", {"inventory": ("/home/me/hosts.yml",)})
    kubeconfig(tmp_path / ".kube" / "config", "us")
    return tmp_path


def kubeconfig(path: Path, name: str) -> str:
    entries = {f"{kind}s": [{"name": name, kind: {"token": "t0ken"}}] for kind in ("cluster", "user")}
    contexts = [{"name": name, "context": {"cluster": name, "user": name}}]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"current-context": name, "contexts": contexts, **entries}))
    return str(path)


def target(
    params: dict[str, Any],
    *,
    host: str = "eu-1",
    is_listed: bool = False,
    is_local: bool = True,
    delegate: str = "",
) -> CommandTarget:
    """What a task with these options gives to commands.

    Args:
        params: its options.
        host: its host.
        is_listed: whether the inventory has the host.
        is_local: whether it works on this machine.
        delegate: the host that does the work instead.
    """
    task_vars = {
        "inventory_hostname": host,
        "groups": {"all": [host] if is_listed else []},
        **({"ansible_delegated_vars": {delegate: {}}} if delegate else {}),
    }
    return task_target(params, task_vars, is_local=is_local)


def completed(text: str, params: dict[str, Any], **others: Any) -> str:
    return str(target(params, **others).complete(text))


def test_the_current_context_of_the_default_kubeconfig_is_named() -> None:
    assert completed("`kubectl get it`", {}) == "`kubectl --context us get it`"


@pytest.mark.parametrize("variable", [None, "K8S_AUTH_KUBECONFIG", "KUBECONFIG"])
def test_another_kubeconfig_is_named(
    home: Path, monkeypatch: pytest.MonkeyPatch, variable: str | None
) -> None:
    path = kubeconfig(home / "eu.yaml", "eu")
    if variable:
        monkeypatch.setenv(variable, path)
    params = {} if variable else {"kubeconfig": path}
    assert completed("`kubectl get it`", params) == f"`kubectl --kubeconfig {path} --context eu get it`"


@pytest.mark.parametrize("source", ["the option host", "the environment variable K8S_AUTH_HOST"])
def test_without_a_kubeconfig_a_command_does_nothing_and_the_message_says_what_names_the_cluster(
    monkeypatch: pytest.MonkeyPatch, source: str
) -> None:
    server, params = "https://me:t0ken@10.0.0.1:6443", {"api_key": "t0ken"}
    if source == "the option host":
        params["host"] = server
    else:
        monkeypatch.setenv("K8S_AUTH_HOST", server)
    note = f"CONTEXT stands for a context of https://10.0.0.1:6443, because {source} names this cluster"
    assert completed("`kubectl get it`", params) == f"`kubectl --context CONTEXT get it`\n({note})"
    held = completed("ansible localhost -m kyma.lifecycle.hold -a state=absent", params)
    assert held == f"ansible localhost -m kyma.lifecycle.hold -a 'state=absent context=CONTEXT'\n({note})"


def test_the_content_of_a_kubeconfig_is_not_shown() -> None:
    text = completed("`kubectl get it`", {"kubeconfig": {"users": [{"user": {"token": "t0ken"}}]}})
    assert text.startswith("`kubectl --context CONTEXT get it`\n(CONTEXT stands for a context")
    assert "t0ken" not in text


def test_a_command_for_the_cluster_of_a_pod_does_nothing_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "service_account_login", lambda _folder: object())
    text = completed("`kubectl get it`", {})
    assert text.startswith(
        "`kubectl --context CONTEXT get it`\n(CONTEXT stands for a context of this cluster"
    )
    assert "service account of its pod" in text
    assert completed("`kubectl get it`", {"context": "us"}) == "`kubectl --context us get it`"


def test_the_files_of_another_host_are_not_read() -> None:
    note = "\n(run kubectl on eu-1, as its kubeconfig is there)"
    assert completed("`kubectl get it`", {"kubeconfig": "~/eu"}, is_local=False) == (
        f"`kubectl --kubeconfig '~/eu' get it`{note}"
    )
    assert completed("`kubectl get it`", {}, is_local=False) == f"`kubectl get it`{note}"


def test_a_delegated_task_names_the_host_that_did_the_work() -> None:
    text = completed("`kubectl get it`", {}, is_local=False, delegate="bastion")
    assert text == "`kubectl get it`\n(run kubectl on bastion, as its kubeconfig is there)"


def test_the_temporary_file_of_an_encrypted_kubeconfig_is_not_named() -> None:
    text = completed("`kubectl get it`", {"kubeconfig": f"{C.DEFAULT_LOCAL_TMP}/tmp1", "context": "eu"})
    assert text.startswith(
        "`kubectl --context CONTEXT get it`\n(CONTEXT stands for a context of this cluster"
    )
    assert text.endswith("because its kubeconfig is encrypted)")


def test_a_kubeconfig_that_cannot_be_read_is_named_as_it_was_given() -> None:
    assert completed("`kubectl get it`", {"kubeconfig": "/gone", "context": "eu"}) == (
        "`kubectl --kubeconfig /gone --context eu get it`"
    )


BROKEN = ["contexts: 5", "contexts: [{name: a, context: foo}]", "x: " + "[" * 5000]


@pytest.mark.parametrize("content", BROKEN)
def test_a_broken_kubeconfig_fails_no_message(home: Path, content: str) -> None:
    file = home / "broken"
    file.write_text(content)
    text = completed("`kubectl get it`", {"kubeconfig": str(file)})
    assert text.startswith(f"`kubectl --kubeconfig {file} --context CONTEXT get it`\n(CONTEXT stands for")


def test_the_default_kubeconfig_is_named_where_the_environment_names_another_one(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KUBECONFIG", kubeconfig(home / "eu.yaml", "us"))
    text = completed("`kubectl get it`", {"kubeconfig": str(home / ".kube" / "config")})
    assert text == f"`kubectl --kubeconfig {home}/.kube/config --context us get it`"


PLAYBOOK = "ansible-playbook kyma.lifecycle.cancel_kyma"


def test_a_playbook_gets_the_cluster_of_the_task_also_for_a_host_of_the_inventory() -> None:
    limited = f"{PLAYBOOK} -i /home/me/hosts.yml --limit eu-1 -e kyma_context="
    assert completed(PLAYBOOK, {}, is_listed=True) == limited + "us"
    assert completed(PLAYBOOK, {"context": "us"}, is_listed=True) == limited + "us"


def test_without_the_host_in_an_inventory_a_playbook_gets_the_context_alone() -> None:
    assert completed(PLAYBOOK, {}, host="localhost") == f"{PLAYBOOK} -e kyma_context=us"
