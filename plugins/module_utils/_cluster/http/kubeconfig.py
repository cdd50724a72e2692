# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads kubeconfig files: the cluster that a context names, and the login to it.

This module reads the file's own content (certificates, tokens, passwords): the import of the ``kubernetes``
client takes longer than a whole deployment without changes. That client handles logins that renew a token by
a protocol (``client_login.py``); ``exec_credentials.py`` handles those that run a program.
"""

from __future__ import annotations

import base64
import binascii
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from ..cluster import Authorization
from ..errors import Unconfigured
from .login import Login, basic, bearer, bearer_from_file, missing_library

DEFAULT_PATH = "~/.kube/config"
SECTIONS = (("clusters", "cluster"), ("contexts", "context"), ("users", "user"))
_SECRET_KEY = re.compile("(token|password|secret|-key-data|^value)$")
"""The keys of a user with its credentials; ``value`` is that of a variable for a credential plugin."""


@dataclass(frozen=True)
class KubeconfigEntry:
    """One named entry, and the folder that its relative paths are relative to."""

    content: Mapping[str, Any] = field(repr=False)
    folder: str


@dataclass(frozen=True)
class Kubeconfig:
    """Kubeconfig files, merged: if entries have the same name, the first one counts.

    Attributes:
        origin: the files, for messages.
        paths: the files that were read; none for a dictionary.
        source: the dictionary, if there are no files.
        current_contexts: the current context of each file that names one.
        clusters, contexts, users: entries by name.
    """

    origin: str
    paths: tuple[str, ...] = ()
    source: Mapping[str, Any] | None = field(default=None, repr=False)
    current_contexts: tuple[str, ...] = ()
    clusters: Mapping[str, KubeconfigEntry] = field(default_factory=dict)
    contexts: Mapping[str, KubeconfigEntry] = field(default_factory=dict)
    users: Mapping[str, KubeconfigEntry] = field(default_factory=dict)


@dataclass(frozen=True)
class Choice:
    """The cluster and the user of a context."""

    context: str
    origin: str
    cluster: KubeconfigEntry
    user: KubeconfigEntry


def read_kubeconfig(source: str | Mapping[str, Any] | None) -> Kubeconfig:
    """Read a kubeconfig.

    Args:
        source: paths separated as in PATH, of which missing ones are skipped; or a
            kubeconfig's content; or None for those of the environment variable KUBECONFIG or the default.

    Raises:
        Unconfigured: no file exists, or one can't be read or is no kubeconfig.
    """
    if isinstance(source, Mapping):
        return merged("the given kubeconfig", [("", source)], source=source)
    listed = source or os.environ.get("KUBECONFIG") or DEFAULT_PATH
    named = [str(expanded_path(path)) for path in listed.split(os.pathsep) if path]
    contents = [(path, content) for path in named if (content := parsed(path)) is not None]
    if not contents:
        raise Unconfigured(
            f"there is no kubeconfig at {', '.join(named)}. The option kubeconfig, or the environment "
            "variable K8S_AUTH_KUBECONFIG or KUBECONFIG, says where it is"
        )
    return merged(os.pathsep.join(path for path, _content in contents), contents)


def expanded_path(path: str) -> Path:
    """A path with the home folder for ``~``; unchanged for a user without one, as in a container."""
    try:
        return Path(path).expanduser()
    except RuntimeError:
        return Path(path)


def parsed(path: str) -> Mapping[str, Any] | None:
    """The content of one kubeconfig file; None if there is none."""
    try:
        import yaml
    except ImportError as error:
        raise missing_library("PyYAML") from error
    try:
        content = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise Unconfigured(f"the kubeconfig {path} can't be read: {error}") from error
    except yaml.MarkedYAMLError as error:
        # The error's text quotes the line, and its problem a word of the line: either may be a secret.
        line = f", line {error.problem_mark.line + 1}" if error.problem_mark else ""
        problem = re.split("['\"]", error.problem or "")[0].strip()
        raise Unconfigured(f"the kubeconfig {path}{line} is not YAML: {problem}") from None
    except (yaml.YAMLError, ValueError):
        raise Unconfigured(
            f"the kubeconfig {path} is not YAML: it has a character, a number or a date that can't be"
        ) from None
    if not isinstance(content, Mapping):
        raise Unconfigured(f"the kubeconfig {path} is empty or not a kubeconfig")
    return content


def merged(
    origin: str, contents: list[tuple[str, Mapping[str, Any]]], *, source: Mapping[str, Any] | None = None
) -> Kubeconfig:
    """Merge the contents of files, each with its path."""
    tables: dict[str, dict[str, KubeconfigEntry]] = {section: {} for section, _key in SECTIONS}
    current = []
    for path, content in contents:
        folder = str(Path(path).absolute().parent) if path else ""
        if content.get("current-context"):
            current.append(str(content["current-context"]))
        for section, key in SECTIONS:
            for entry in content.get(section) or ():
                if not isinstance(entry, Mapping) or "name" not in entry:
                    raise Unconfigured(f"{path or origin}: an entry of {section} has no name")
                tables[section].setdefault(str(entry["name"]), KubeconfigEntry(entry.get(key) or {}, folder))
    return Kubeconfig(
        origin=origin,
        paths=tuple(path for path, _text in contents if path),
        source=source,
        current_contexts=tuple(current),
        **tables,
    )


def resolve_context(config: Kubeconfig, context: str | None) -> Choice:
    """Find the entries of a context, or of the current context.

    Raises:
        Unconfigured: no such context, one of its entries is missing, or files name different current ones.
    """
    if not context:
        candidates = list(dict.fromkeys(config.current_contexts))
        if not candidates:
            raise Unconfigured(
                f"{config.origin} has no current context: the option context says which one to take"
                + known("contexts", config.contexts)
            )
        if len(candidates) > 1:
            # kubectl takes the first file's, the Python client the last one's: we must not guess.
            raise Unconfigured(
                f"the files of {config.origin} name different current contexts ({', '.join(candidates)}): "
                "the option context says which one to take"
            )
        context = candidates[0]
    if context not in config.contexts:
        raise Unconfigured(
            f"{config.origin} has no context named {context}" + known("contexts", config.contexts)
        )
    entry = config.contexts[context].content
    cluster, user = str(entry.get("cluster") or ""), str(entry.get("user") or "")
    origin = f"context {context} of {config.origin}"
    if cluster not in config.clusters:
        raise Unconfigured(
            f"{origin} names the cluster {cluster!r}, which isn't there" + known("clusters", config.clusters)
        )
    if user and user not in config.users:
        raise Unconfigured(
            f"{origin} names the user {user!r}, which isn't there" + known("users", config.users)
        )
    return Choice(
        context=context,
        origin=origin,
        cluster=config.clusters[cluster],
        user=config.users.get(user) or KubeconfigEntry({}, ""),
    )


def known(what: str, entries: Mapping[str, KubeconfigEntry]) -> str:
    """The names that exist, for the end of a message."""
    return f"; its {what} are {', '.join(sorted(entries))}" if entries else f"; it has no {what} at all"


def secrets_in(content: object, key: str = "") -> Iterator[str]:
    """The credentials in a kubeconfig, or in a part of it.

    Args:
        content: plain values.
        key: of the content.
    """
    if isinstance(content, Mapping):
        for name, value in content.items():
            yield from secrets_in(value, str(name))
    elif isinstance(content, (list, tuple)):
        for value in content:
            yield from secrets_in(value, key)
    elif content and _SECRET_KEY.search(key):
        yield str(content)


def needs_provider(choice: Choice) -> bool:
    """Whether a protocol (``auth-provider``) provides the token."""
    return "auth-provider" in choice.user.content


def needs_plugin(choice: Choice) -> bool:
    """Whether a program prints the credentials (``exec``); a token in the file takes precedence."""
    user = choice.user.content
    return "exec" in user and not (user.get("token") or user.get("tokenFile"))


def static_login(choice: Choice) -> Login:
    """The login of a context, without the credentials of a program or a protocol.

    Raises:
        Unconfigured: no server, a file that does not exist, data that isn't base64.
    """
    cluster, user = choice.cluster.content, choice.user.content
    server = str(cluster.get("server") or "").rstrip("/")
    if not server:
        raise Unconfigured(f"{choice.origin}: its cluster has no server")
    ca_file, ca_data = file_or_data(choice.cluster, "certificate-authority", choice.origin)
    cert_file, cert_data = file_or_data(choice.user, "client-certificate", choice.origin)
    key_file, key_data = file_or_data(choice.user, "client-key", choice.origin)
    return Login(
        server=server,
        origin=choice.origin,
        authorization=static_authorization(choice),
        verify=not cluster.get("insecure-skip-tls-verify"),
        server_name=str(cluster.get("tls-server-name") or ""),
        ca_file=ca_file,
        ca_data=ca_data,
        cert_file=cert_file,
        cert_data=cert_data,
        key_file=key_file,
        key_data=key_data,
        impersonate_user=str(user.get("as") or ""),
        impersonate_groups=tuple(user.get("as-groups") or ()),
        proxy=str(cluster.get("proxy-url") or ""),
    )


def static_authorization(choice: Choice) -> Authorization:
    """The Authorization header from the content of the file."""
    user = choice.user.content
    if user.get("token"):
        return bearer(str(user["token"]), f"{choice.origin}: the token of its user")
    if user.get("tokenFile"):
        return bearer_from_file(str(Path(choice.user.folder, str(user["tokenFile"]))), choice.origin)
    if user.get("username") and user.get("password"):
        source = f"{choice.origin}: the username or the password of its user"
        return basic(str(user["username"]), str(user["password"]), source)
    server = str(choice.cluster.content.get("server") or "")
    login = server.partition("://")[2].partition("/")[0].rpartition("@")[0]
    if not login:
        return lambda _refused: ""
    username, _colon, password = login.partition(":")
    return basic(unquote(username), unquote(password), f"{choice.origin}: the URL of its server")


def file_or_data(entry: KubeconfigEntry, key: str, origin: str) -> tuple[str, str]:
    """A PEM as a path, or as text from the kubeconfig's base64 data; data takes precedence."""
    data = entry.content.get(key + "-data")
    if data:
        try:
            return "", base64.b64decode("".join(str(data).split()), validate=True).decode("ascii")
        except (binascii.Error, UnicodeDecodeError) as error:
            raise Unconfigured(f"{origin}: {key}-data is not base64 of a PEM") from error
    path = entry.content.get(key)
    if not path:
        return "", ""
    whole = Path(entry.folder, str(path))
    if not whole.is_file():
        raise Unconfigured(f"{origin}: the {key} {whole} is not there")
    return str(whole), ""
