# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Logins that only the ``kubernetes`` client supports: OIDC, Google.

The import of that client takes a quarter of a second, so only these logins import it.
"""

from __future__ import annotations

import dataclasses
import threading

from ..cluster import Authorization
from ..errors import Unconfigured
from .kubeconfig import Choice, Kubeconfig, static_login
from .login import Login, bearer_header, missing_library


def client_login(config: Kubeconfig, choice: Choice, *, persist: bool) -> Login:
    """The login of a context, with the token of a protocol.

    Args:
        config: the kubeconfig of the context.
        choice: the context.
        persist: whether to write a renewed token to the kubeconfig.

    Raises:
        Unconfigured: the provider gives no token.
    """
    require_client()
    return dataclasses.replace(
        static_login(choice), authorization=provider_authorization(config, choice, persist=persist)
    )


def require_client() -> None:
    """Raise an error that says that the client is missing, if it is."""
    try:
        import kubernetes.config  # unused here, but everything below needs it
    except ImportError as error:
        raise missing_library("kubernetes") from error
    del kubernetes


def provider_authorization(config: Kubeconfig, choice: Choice, *, persist: bool) -> Authorization:
    """The Authorization header from an ``auth-provider`` (oidc, gcp); the client fetches and renews it."""
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
    source = f"{choice.origin}: the auth-provider {choice.user.content['auth-provider'].get('name')}"
    if "BearerToken" not in settings.auth_settings():
        raise Unconfigured(f"{source} gives no token; log in again")
    lock = threading.Lock()

    def authorization(_refused: str) -> str:
        with lock:
            # Renews an expired token. The client's internal name for it depends on its version.
            header = str(settings.auth_settings()["BearerToken"]["value"])
        return bearer_header(header.removeprefix("Bearer "), f"{source} gives a token that")

    return authorization
