# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Logins that the ``kubernetes`` client knows how to do: programs that print credentials, OIDC, Google.

Importing that client takes a quarter of a second, so it is done for these alone.
"""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import Unconfigured
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.kubeconfig import (
    Choice,
    Kubeconfig,
    static_login,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.login import (
    Authorization,
    Login,
    missing_client,
)

RENEW_BEFORE = timedelta(seconds=60)
"""How long before its end a credential counts as run out."""


def client_login(config: Kubeconfig, choice: Choice, *, persist: bool) -> Login:
    """The login that a context means, with what a program or a protocol gives.

    Args:
        config: the kubeconfig that the context is from.
        choice: the context.
        persist: whether a renewed token is written back to the kubeconfig.

    Raises:
        Unconfigured: the program fails, or the provider gives no token.
    """
    require_client()
    if "auth-provider" in choice.user.content:
        return dataclasses.replace(
            static_login(choice), authorization=provider_authorization(config, choice, persist=persist)
        )
    return plugin_login(choice)


def require_client() -> None:
    """Say in a sentence that the client is missing, where it is."""
    try:
        import kubernetes.config  # unused here, but everything below needs it
    except ImportError as error:
        raise missing_client() from error
    del kubernetes


def plugin_login(choice: Choice) -> Login:
    """The login by a credential plugin (client.authentication.k8s.io), which is run at once."""
    plugin = Plugin(choice)
    status = plugin.status()
    login = dataclasses.replace(static_login(choice), authorization=plugin.authorization)
    if not status.get("clientCertificateData"):
        return login
    return dataclasses.replace(
        login,
        cert_file="",
        cert_data=str(status["clientCertificateData"]),
        key_file="",
        key_data=str(status["clientKeyData"]),
    )


class Plugin:
    """A program that prints an ExecCredential, run again when what it gave has run out."""

    def __init__(self, choice: Choice) -> None:
        self._choice = choice
        self._lock = threading.Lock()
        self._status: Mapping[str, Any] | None = None

    def authorization(self, refused: str) -> str:
        """The Authorization header; empty where the program gives a certificate instead of a token."""
        token = self.status(refused).get("token")
        return f"Bearer {token}" if token else ""

    def status(self, refused: str = "") -> Mapping[str, Any]:
        """The ``status`` of the ExecCredential that is valid now."""
        with self._lock:
            status = self._status
            if (
                status is None
                or has_run_out(status.get("expirationTimestamp"))
                or refused == f"Bearer {status.get('token')}"
            ):
                status = self._status = self._run()
            return status

    def _run(self) -> Mapping[str, Any]:
        from kubernetes.config.config_exception import ConfigException
        from kubernetes.config.exec_provider import ExecProvider
        from kubernetes.config.kube_config import ConfigNode

        definition = self._choice.user.content["exec"]
        what = f"{self._choice.origin}: the credential plugin {definition.get('command')}"
        try:
            status: Mapping[str, Any] = ExecProvider(
                ConfigNode("exec", definition),
                self._choice.user.folder or None,
                ConfigNode("cluster", self._choice.cluster.content),
            ).run()
        except FileNotFoundError as error:
            hint = definition.get("installHint")
            raise Unconfigured(f"{what} is not installed" + (f". {hint}" if hint else "")) from error
        except (ConfigException, OSError) as error:
            raise Unconfigured(f"{what} failed: {error}") from error
        if not status.get("token") and not (
            status.get("clientCertificateData") and status.get("clientKeyData")
        ):
            raise Unconfigured(f"{what} gave neither a token nor a certificate with its key")
        return status


def has_run_out(expiration: object) -> bool:
    """Whether a credential with this RFC 3339 expiration, if any, should be renewed."""
    if not expiration:
        return False
    try:
        end = datetime.fromisoformat(str(expiration))
    except ValueError:
        return False
    return end - RENEW_BEFORE <= datetime.now(UTC)


def provider_authorization(config: Kubeconfig, choice: Choice, *, persist: bool) -> Authorization:
    """The Authorization header by an ``auth-provider`` (oidc, gcp), as the client gets and renews it."""
    from kubernetes.client import Configuration
    from kubernetes.config import kube_config
    from kubernetes.config.config_exception import ConfigException

    settings = Configuration()
    try:
        if config.source is not None:
            kube_config.load_kube_config_from_dict(
                dict(config.source), context=choice.context, client_configuration=settings
            )
        else:
            kube_config.load_kube_config(
                kube_config.ENV_KUBECONFIG_PATH_SEPARATOR.join(config.paths),
                context=choice.context,
                client_configuration=settings,
                persist_config=persist,
            )
    except ConfigException as error:
        raise Unconfigured(f"{choice.origin}: {error}") from error
    if not settings.api_key.get("BearerToken"):
        name = choice.user.content["auth-provider"].get("name")
        raise Unconfigured(f"{choice.origin}: the auth-provider {name} gives no token; log in anew")
    lock = threading.Lock()

    def authorization(_refused: str) -> str:
        with lock:
            if settings.refresh_api_key_hook is not None:
                settings.refresh_api_key_hook(settings)
            return str(settings.api_key["BearerToken"])

    return authorization
