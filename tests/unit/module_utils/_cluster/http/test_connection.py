# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What connection options, the environment and kubeconfigs mean."""

from __future__ import annotations

import base64
import contextlib
import os
import pwd
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import pytest
import yaml
from ansible_collections.kyma.lifecycle.plugins.module_utils import _long_waits
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import Unconfigured
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http import connection
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http import (
    exec_credentials as credential_plugin,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.connection import (
    CONNECTION_SPEC,
    connect,
    login_for,
    resolved_kubeconfig,
    with_environment,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.login import (
    Login,
    bearer_from_file,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.pool import bypasses_proxy
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.transport import Transport
from ansible_collections.kyma.lifecycle.plugins.module_utils._errors import LifecycleError

from tests.support.apiserver import Reply, Seen, serve, status
from tests.support.closed_folder import closed_folder
from tests.support.eventually import eventually
from tests.support.needs import module_of_kubernetes_core

SERVER = "https://api.example.org:6443"
Write = Callable[..., str]


@pytest.fixture(autouse=True)
def _no_settings_of_this_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in list(os.environ):
        if name.startswith(("K8S_AUTH_", "KUBE")) or name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setattr(connection, "SERVICE_ACCOUNT_FOLDER", tmp_path / "no-pod")


def kubeconfig(
    user: dict[str, Any] | None = None, *, name: str = "prod", server: str = SERVER, **cluster: Any
) -> dict[str, Any]:
    """A kubeconfig with one of everything."""
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": name,
        "contexts": [{"name": name, "context": {"cluster": f"{name}-cluster", "user": f"{name}-user"}}],
        "clusters": [{"name": f"{name}-cluster", "cluster": {"server": server, **cluster}}],
        "users": [{"name": f"{name}-user", "user": user or {}}],
    }


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a kubeconfig to a file, and give its path."""

    def written(content: dict[str, Any], name: str = "config") -> str:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(yaml.safe_dump(content), encoding="utf-8")
        return str(path)

    return written


def login(**options: object) -> Login:
    """The login that options and the environment mean."""
    return login_for(with_environment(options))


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def test_the_options_are_those_of_kubernetes_core() -> None:
    assert module_of_kubernetes_core("module_utils.args_common").AUTH_ARG_SPEC == CONNECTION_SPEC


def test_a_context_of_a_file(write: Write) -> None:
    path = write(
        kubeconfig(
            {"client-certificate-data": encoded("CERT"), "client-key-data": encoded("KEY")},
            **{"certificate-authority-data": encoded("CA"), "tls-server-name": "other"},
        )
    )
    resolved_login = login(kubeconfig=path)

    assert resolved_login.server == SERVER
    assert resolved_login.origin == f"context prod of {path}"
    assert (resolved_login.ca_data, resolved_login.cert_data, resolved_login.key_data) == (
        "CA",
        "CERT",
        "KEY",
    )
    assert resolved_login.server_name == "other"
    assert resolved_login.verify
    assert resolved_login.authorization("") == ""


def test_relative_paths_start_at_the_kubeconfig(write: Write, tmp_path: Path) -> None:
    path = write(kubeconfig({"tokenFile": "token"}, **{"certificate-authority": "ca.pem"}), "deep/config")
    (tmp_path / "deep" / "ca.pem").write_text("CA")
    (tmp_path / "deep" / "token").write_text("abc\n")

    resolved_login = login(kubeconfig=path)

    assert resolved_login.ca_file == str(tmp_path / "deep" / "ca.pem")
    assert resolved_login.authorization("") == "Bearer abc"


@pytest.mark.parametrize(
    ("user", "header"),
    [
        ({"token": "abc"}, "Bearer abc"),
        ({"username": "u", "password": "p"}, "Basic dTpw"),
        ({"token": "abc", "exec": {"command": "never-run"}}, "Bearer abc"),
    ],
)
def test_credentials_of_a_kubeconfig_become_a_header(user: dict[str, Any], header: str) -> None:
    assert login(kubeconfig=kubeconfig(user)).authorization("") == header


def test_impersonation_of_the_kubeconfig_and_of_the_options() -> None:
    config = kubeconfig({"token": "t", "as": "jane", "as-groups": ["a"]})

    assert login(kubeconfig=config).impersonate_user == "jane"
    assert login(kubeconfig=config).impersonate_groups == ("a",)
    assert login(kubeconfig=config, impersonate_user="joe").impersonate_user == "joe"


def test_options_win(tmp_path: Path) -> None:
    ca = tmp_path / "other.pem"
    ca.write_text("CA")
    config = kubeconfig({"token": "abc"}, **{"certificate-authority-data": encoded("CA")})

    resolved_login = login(kubeconfig=config, host="https://other/", ca_cert=str(ca), validate_certs=False)

    assert (resolved_login.server, resolved_login.authorization("")) == ("https://other", "Bearer abc")
    assert login(kubeconfig=config, api_key="mine").authorization("") == "Bearer mine"
    assert (resolved_login.ca_file, resolved_login.ca_data, resolved_login.verify) == (str(ca), "", False)


def test_a_host_with_credentials_needs_no_kubeconfig() -> None:
    resolved_login = login(host=SERVER + "/", api_key="abc")

    assert (resolved_login.server, resolved_login.authorization("")) == (SERVER, "Bearer abc")


def test_the_environment_as_kubernetes_core_reads_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {
        "HOST": SERVER,
        "API_KEY": "abc",
        "VERIFY_SSL": "No",
        "IMPERSONATE_GROUPS": "a,,b",
        "PROXY": "http://proxy:3128",
        "PROXY_HEADERS_PROXY_BASIC_AUTH": "u:p",
    }.items():
        monkeypatch.setenv(f"K8S_AUTH_{name}", value)

    resolved_login = login()

    assert (resolved_login.server, resolved_login.authorization(""), resolved_login.verify) == (
        SERVER,
        "Bearer abc",
        False,
    )
    assert resolved_login.impersonate_groups == ("a", "b")
    assert resolved_login.proxy == "http://proxy:3128"
    assert resolved_login.proxy_headers == {"proxy-authorization": "Basic dTpw"}
    assert login(api_key="mine", validate_certs=True).authorization("") == "Bearer mine"
    assert login(validate_certs=True).verify


def test_the_default_kubeconfigs(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    write(kubeconfig({"token": "home"}), "home/.kube/config")
    assert login().authorization("") == "Bearer home"

    monkeypatch.setenv("KUBECONFIG", write(kubeconfig({"token": "kubeconfig"}), "b"))
    assert login().authorization("") == "Bearer kubeconfig"

    monkeypatch.setenv("K8S_AUTH_KUBECONFIG", write(kubeconfig({"token": "k8s-auth"}), "c"))
    assert login().authorization("") == "Bearer k8s-auth"
    assert login(kubeconfig=kubeconfig({"token": "option"})).authorization("") == "Bearer option"


def test_a_user_without_a_home_needs_none(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the user of a container: no HOME, and no entry in passwd."""

    def no_entry(uid: int) -> NoReturn:
        raise KeyError(uid)

    named = write(kubeconfig({"token": "named"}), "a")
    monkeypatch.delenv("HOME")
    monkeypatch.setattr(pwd, "getpwuid", no_entry)
    assert resolved_kubeconfig({"kubeconfig": named}) == (named, "prod")
    with pytest.raises(Unconfigured, match=r"there is no kubeconfig at ~/\.kube/config"):
        login()
    with pytest.raises(Unconfigured, match=r"the file ~/ca\.crt of the option ca_cert is not there"):
        login(kubeconfig=named, ca_cert="~/ca.crt")


def test_files_are_merged(write: Write) -> None:
    first = write(kubeconfig({"token": "first"}), "first")
    second = write(kubeconfig({"token": "second"}), "second")
    third = write({**kubeconfig({"token": "third"}, name="test"), "current-context": ""}, "third")
    paths = f"{first}:/does/not/exist:{second}:{third}"

    assert login(kubeconfig=paths).authorization("") == "Bearer first"
    assert login(kubeconfig=paths, context="test").authorization("") == "Bearer third"


def test_files_that_disagree_on_the_current_context_are_not_guessed_at(write: Write) -> None:
    first = write(kubeconfig({"token": "first"}), "first")
    second = write(kubeconfig({"token": "second"}, name="test"), "second")

    with pytest.raises(Unconfigured, match=r"different current contexts \(prod, test\)"):
        login(kubeconfig=f"{first}:{second}")
    assert login(kubeconfig=f"{first}:{second}", context="prod").authorization("") == "Bearer first"


def test_the_service_account_of_a_pod(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, write: Write) -> None:
    write(kubeconfig({"token": "home"}), "home/.kube/config")
    (tmp_path / "token").write_text("pod")
    (tmp_path / "ca.crt").write_text("CA")
    monkeypatch.setattr(connection, "SERVICE_ACCOUNT_FOLDER", tmp_path)
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "fd00::1")
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", "443")

    resolved_login = login()

    assert (resolved_login.server, resolved_login.ca_file) == (
        "https://[fd00::1]:443",
        str(tmp_path / "ca.crt"),
    )
    assert resolved_login.authorization("") == "Bearer pod"
    assert login(context="prod").authorization("") == "Bearer home"


def test_a_token_file_is_read_again_when_refused_or_old(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "token"
    path.write_text("one")
    authorization = bearer_from_file(str(path), "a test")
    assert authorization("") == "Bearer one"
    path.write_text("two")

    assert authorization("") == "Bearer one"
    assert authorization("Bearer zero") == "Bearer one"
    assert authorization("Bearer one") == "Bearer two"
    path.write_text("three")
    later = time.monotonic() + 61
    monkeypatch.setattr(time, "monotonic", lambda: later)
    assert authorization("") == "Bearer three"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kubeconfig": "/no/such/file"}, "no kubeconfig at /no/such/file"),
        ({}, r"no kubeconfig at .*/\.kube/config"),
        (
            {"kubeconfig": kubeconfig(), "context": "dev"},
            "no context named dev; its contexts are prod",
        ),
        ({"kubeconfig": {"apiVersion": "v1"}}, "no current context.*no contexts at all"),
        ({"kubeconfig": {**kubeconfig(), "users": []}}, "names the user 'prod-user', which isn't there"),
        ({"kubeconfig": {**kubeconfig(), "clusters": None}}, "names the cluster 'prod-cluster'"),
        (
            {"kubeconfig": kubeconfig(None, **{"certificate-authority": "/no/ca"})},
            "certificate-authority /no/ca",
        ),
        ({"kubeconfig": kubeconfig({"client-key-data": "?"})}, "context prod .* client-key-data is not"),
        ({"kubeconfig": kubeconfig(server="")}, "context prod .* has no server"),
        ({"kubeconfig": kubeconfig(server="api:6443")}, "'api:6443' is no URL"),
        ({"host": SERVER, "api_key": "x", "ca_cert": "/no/ca"}, "/no/ca of the option ca_cert"),
    ],
)
def test_a_problem_of_the_connection_is_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(Unconfigured, match=message):
        login(**options)


def test_a_file_that_is_no_yaml_is_named_without_its_content(tmp_path: Path) -> None:
    path = tmp_path / "config"
    path.write_text("users:\n  token: 'hunter2\n")
    with pytest.raises(Unconfigured, match="line 3 is not YAML") as caught:
        login(kubeconfig=str(path))
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    "value", ["*hunter2", "!hunter2", "!hunter2!x", "&a *hunter2", "\x07 hunter2", "2020-13-45"]
)
def test_an_error_of_an_unreadable_kubeconfig_shows_no_content_of_it(tmp_path: Path, value: str) -> None:
    path = tmp_path / "config"
    path.write_text(f"users:\n- user:\n    password: {value}\n")
    with pytest.raises(Unconfigured, match=r"is not YAML: \w") as caught:
        login(kubeconfig=str(path))
    assert "hunter2" not in str(caught.value)


def test_a_kubeconfig_that_may_not_be_read_is_not_said_to_be_missing(tmp_path: Path) -> None:
    with (
        closed_folder(tmp_path) as folder,
        pytest.raises(Unconfigured, match=r"closed/config can't be read: .*Permission denied"),
    ):
        login(kubeconfig=f"{folder}/config{os.pathsep}/missing")


@pytest.mark.parametrize(
    "user",
    [
        {"token": "abc"},
        {"username": "u", "password": "p"},
        {"client-certificate-data": encoded("C"), "client-key-data": encoded("K"), "token": "x"},
        {"tokenFile": "token"},
        {},
    ],
)
@pytest.mark.parametrize("cluster", [{}, {"insecure-skip-tls-verify": True, "proxy-url": "http://p:1"}])
def test_the_kubernetes_client_reads_the_same(
    write: Write, tmp_path: Path, user: dict[str, Any], cluster: dict[str, Any]
) -> None:
    from kubernetes.client import Configuration
    from kubernetes.config import load_kube_config

    (tmp_path / "token").write_text("from-file")
    cluster = {**cluster, "certificate-authority-data": encoded("CA"), "tls-server-name": "n"}
    path = write(kubeconfig(user, **cluster))
    theirs = Configuration()
    load_kube_config(path, client_configuration=theirs)

    ours = login(kubeconfig=path)

    assert ours.server == theirs.host
    assert ours.verify == theirs.verify_ssl
    assert ours.server_name == theirs.tls_server_name
    # Not compared: the client reads proxy-url only from 36.0.4 on.
    assert ours.proxy == cluster.get("proxy-url", "")
    assert ours.authorization("") == theirs.auth_settings().get("BearerToken", {}).get("value", "")
    for file, data in (("ssl_ca_cert", "ca_data"), ("cert_file", "cert_data"), ("key_file", "key_data")):
        name = getattr(theirs, file)
        assert getattr(ours, data) == (Path(name).read_text() if name else "")


def plugin(tmp_path: Path, printed: str, **definition: object) -> dict[str, Any]:
    """A user whose credentials come from a program, which notes each of its runs."""
    script = tmp_path / "plugin.py"
    script.write_text(
        f"import os, sys\nopen({str(tmp_path / 'runs')!r}, 'a').write('x')\n"
        f"runs = os.path.getsize({str(tmp_path / 'runs')!r})\n" + printed
    )
    return {
        "exec": {
            "apiVersion": "client.authentication.k8s.io/v1",
            "command": sys.executable,
            "args": [str(script)],
            "interactiveMode": "Never",
            **definition,
        }
    }


def prints(status_code: str) -> str:
    """A program that prints an ExecCredential with this status, a Python expression."""
    head = "'apiVersion': 'client.authentication.k8s.io/v1', 'kind': 'ExecCredential'"
    return f"import json\nprint(json.dumps({{{head}, 'status': {status_code}}}))\n"


def test_a_credential_plugin(tmp_path: Path) -> None:
    user = plugin(tmp_path, prints("{'token': 'run-%d' % runs}"))
    resolved_login = login(kubeconfig=kubeconfig(user))

    assert resolved_login.authorization("") == "Bearer run-1"
    assert resolved_login.authorization("Bearer run-0") == "Bearer run-1"
    assert resolved_login.authorization("Bearer run-1") == "Bearer run-2"
    assert (tmp_path / "runs").read_text() == "xx"


def test_a_credential_that_has_run_out_is_renewed(tmp_path: Path) -> None:
    user = plugin(
        tmp_path, prints("{'token': 'run-%d' % runs, 'expirationTimestamp': '2020-01-01T00:00:00Z'}")
    )
    resolved_login = login(kubeconfig=kubeconfig(user))

    assert resolved_login.authorization("") == "Bearer run-2"


def test_a_credential_plugin_may_give_a_certificate(tmp_path: Path) -> None:
    user = plugin(tmp_path, prints("{'clientCertificateData': 'CERT', 'clientKeyData': 'KEY'}"))
    resolved_login = login(kubeconfig=kubeconfig(user))

    assert (resolved_login.cert_data, resolved_login.key_data, resolved_login.authorization("")) == (
        "CERT",
        "KEY",
        "",
    )


@pytest.mark.parametrize(
    ("printed", "definition", "message"),
    [
        ("sys.exit('not logged in')", {}, "context prod .* credential plugin .* failed: .*not logged in"),
        (prints("{}"), {}, "gave neither a token nor a certificate"),
        ("print('hello')", {}, "did not print an ExecCredential"),
        ("print('[]')", {}, "did not print an ExecCredential"),
        ("sys.exit(bool(sys.stdin.read()) or 'no answer on stdin')", {}, "exit code 1: no answer on stdin"),
        ("", {"command": ""}, "lacks command in the kubeconfig"),
        ("", {"interactiveMode": "Always"}, "wants a terminal"),
        (
            prints("{'token': 'abc'}"),
            {"apiVersion": "client.authentication.k8s.io/v1beta1"},
            "speaks client.authentication.k8s.io/v1, and the kubeconfig asks for client.auth.*/v1beta1",
        ),
        ("", {"command": "no-such-plugin", "installHint": "Get it."}, "no-such-plugin is not installed. Get"),
    ],
)
def test_a_credential_plugin_that_fails(
    tmp_path: Path, printed: str, definition: dict[str, Any], message: str
) -> None:
    with pytest.raises(Unconfigured, match=message):
        login(kubeconfig=kubeconfig(plugin(tmp_path, printed, **definition)))


@pytest.mark.parametrize(
    "hangs", ["time.sleep(1e6)", "subprocess.run(['sleep', '1e6'])", "subprocess.Popen(['sleep', '1e6'])"]
)
def test_a_credential_plugin_that_hangs_is_ended_with_all_that_it_started(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, hangs: str
) -> None:
    monkeypatch.setattr(credential_plugin, "PLUGIN_SECONDS", 0.5)
    monkeypatch.setattr(_long_waits, "WAIT_SECONDS", 0.2)
    monkeypatch.setattr(_long_waits, "_REPORTED_WAITS", {})
    reported: list[tuple[object, ...]] = []
    monkeypatch.setattr(_long_waits, "_WAIT_LISTENERS", [lambda *line: reported.append(line)])
    note = f"open({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid()))\n"
    user = plugin(tmp_path, f"import subprocess, time\n{note}{hangs}\n", env=[{"name": "A", "value": "b"}])
    with pytest.raises(
        Unconfigured, match=f"credential plugin {sys.executable} gave no answer within"
    ) as caught:
        login(kubeconfig=kubeconfig(user))
    assert "plugin.py" not in str(caught.value)
    [(subject, _state, reason)] = reported
    assert subject == "credential plugin"
    assert str(reason).endswith(f"the credential plugin {sys.executable}; it is ended after 0 s")
    group = int((tmp_path / "pid").read_text())
    eventually(lambda: not any_alive(group))


def any_alive(group: int) -> bool:
    """Whether a process of a group still runs."""
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            state, _parent, pgid, *_rest = path.read_text().rpartition(")")[2].split()
            if int(pgid) == group and state != "Z":
                return True
    return False


def test_a_credential_plugin_learns_of_its_cluster_if_it_wants(tmp_path: Path) -> None:
    status = "{'token': json.loads(os.environ['KUBERNETES_EXEC_INFO'])['spec']['cluster']['server']}"
    resolved_login = login(kubeconfig=kubeconfig(plugin(tmp_path, prints(status), provideClusterInfo=True)))
    assert resolved_login.authorization("") == f"Bearer {resolved_login.server}"


def token_of(expires: int) -> str:
    """A JSON web token, unsigned."""
    parts = [encoded(part).rstrip("=") for part in ('{"alg":"none"}', f'{{"exp":{expires}}}', "signature")]
    return ".".join(parts)


def test_the_login_of_a_url_is_sent() -> None:
    server = "https://jane:a%2Fb@api.example"
    assert login(kubeconfig=kubeconfig({}, server=server)).authorization("") == f"Basic {encoded('jane:a/b')}"
    with_token = kubeconfig({"token": "abc"}, server=server)
    assert login(kubeconfig=with_token).authorization("") == "Bearer abc"


def test_an_auth_provider(write: Write) -> None:
    token = token_of(4102444800)
    user = {"auth-provider": {"name": "oidc", "config": {"id-token": token, "idp-issuer-url": "https://x"}}}

    assert login(kubeconfig=kubeconfig(user)).authorization("") == f"Bearer {token}"
    assert login(kubeconfig=write(kubeconfig(user))).authorization("") == f"Bearer {token}"


def test_an_auth_provider_that_the_client_does_not_know() -> None:
    user = {"auth-provider": {"name": "azure", "config": {}}}
    with pytest.raises(Unconfigured, match="the auth-provider azure gives no token"):
        login(kubeconfig=kubeconfig(user))


@pytest.mark.parametrize(("library", "package"), [("kubernetes.config", "kubernetes"), ("yaml", "PyYAML")])
def test_without_the_client_a_login_says_so(
    monkeypatch: pytest.MonkeyPatch, write: Write, library: str, package: str
) -> None:
    path = write(kubeconfig({"auth-provider": {"name": "oidc", "config": {}}}))
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(Unconfigured, match=f"pip install {package}$"):
        connect({"kubeconfig": path})


def test_without_the_client_a_request_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    for library in ("urllib3", "websocket"):
        monkeypatch.setitem(sys.modules, library, None)
    cluster = connect({"kubeconfig": kubeconfig()})
    with pytest.raises(Unconfigured, match=r"pip install urllib3$"):
        cluster.server_version()
    with pytest.raises(Unconfigured, match=r"pip install websocket-client$"):
        cluster.exec("pod", "namespace", ["true"])


@pytest.mark.parametrize("runs_program", [False, True])
def test_plain_logins_do_not_import_the_client(tmp_path: Path, write: Write, runs_program: bool) -> None:
    user = plugin(tmp_path, prints("{'token': 'abc'}")) if runs_program else {"token": "abc"}
    path = write(kubeconfig(user))
    program = (
        "import sys\n"
        f"from {connect.__module__} import connect\n"
        f"connect({{'kubeconfig': {path!r}}})._transport.pool()\n"
        "sys.exit('kubernetes' in sys.modules)\n"
    )
    environment = {"PYTHONPATH": os.pathsep.join(sys.path)}
    assert subprocess.run([sys.executable, "-c", program], env=environment, check=False).returncode == 0


@pytest.mark.parametrize(
    ("no_proxy", "bypassed"),
    [
        ("", False),
        ("*", True),
        ("example.org", True),
        (".example.org", True),
        ("*.example.org", True),
        ("ple.org", False),
        ("other, api.example.org", True),
    ],
)
def test_no_proxy(no_proxy: str, bypassed: bool) -> None:
    assert bypasses_proxy(SERVER, no_proxy) is bypassed


def test_no_proxy_by_network() -> None:
    assert bypasses_proxy("https://10.1.2.3:6443", "10.0.0.0/8")
    assert not bypasses_proxy("https://11.1.2.3:6443", "10.0.0.0/8")


def test_the_environments_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy:3128")
    monkeypatch.setenv("NO_PROXY", "example.org")

    resolved_login = login(host=SERVER, api_key="x")

    assert (resolved_login.proxy, resolved_login.no_proxy) == ("http://proxy:3128", "example.org")
    assert login(host=SERVER, api_key="x", proxy="http://mine:1").proxy == "http://mine:1"


def test_a_proxy_is_used() -> None:
    def script(request: Seen) -> Reply:
        return Reply({"gitVersion": "v1"}) if request.path == "/version" else status(404)

    with serve(script) as proxy:
        resolved_login = login(host="http://api.invalid", api_key="x", proxy=proxy.url)
        answer = Transport(resolved_login).request("read", "GET", "/version").json()

    assert answer == {"gitVersion": "v1"}
    assert proxy.seen[0].header("Host") == "api.invalid"


def test_the_library_that_a_proxy_needs_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "urllib3.contrib.socks", None)
    with pytest.raises(Unconfigured, match="the Python library PySocks is missing"):
        connect({"host": SERVER, "api_key": "x", "proxy": "socks5://127.0.0.1:9"}).get("v1", "Pod", "a", "b")


def test_secrets_are_in_no_text_of_a_login() -> None:
    resolved_login = login(
        kubeconfig=kubeconfig({"token": "hunter2", "client-key-data": encoded("hunter2")}), password="hunter2"
    )
    assert "hunter2" not in repr(resolved_login)


def test_connecting_makes_no_request() -> None:
    with serve(lambda _request: Reply({})) as server:
        cluster = connect({"host": server.url, "api_key": "x", "name": "other options are ignored"})
        assert server.seen == []
        assert cluster.requests == {}


@pytest.mark.parametrize(
    "options",
    [
        {"host": "https://user:hunter2@127.0.0.1:9?token=hunter2"},
        {"host": "ftp://user:hunter2@127.0.0.1:9"},
        {"host": "https://user:hunter2@[127.0.0.1:9"},
        {"host": "user:hunter2@127.0.0.1:9"},
        {"host": "https://user:hunter2@127.0.0.1:9hunter2"},
        {"host": "https://127.0.0.1:9", "proxy": "http://user:hunter2@127.0.0.1:9"},
        {"host": "https://localhost", "proxy": "user:hunter2@127.0.0.1:9"},
        {"host": "https://localhost", "proxy": "ftp://user:hunter2@127.0.0.1:9"},
        {"host": "https://localhost", "proxy": "http://user:hunter2@127.0.0.1:9:1"},
    ],
)
def test_no_login_of_a_url_is_shown(options: dict[str, str]) -> None:
    with pytest.raises(LifecycleError, match=r"127\.0\.0\.1:9|http.*\*\*\*") as caught:
        connect({**options, "api_key": "x"}).get("v1", "Namespace", "a")
    assert "hunter2" not in str(caught.value)
