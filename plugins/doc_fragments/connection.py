# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Documentation of the options that name a cluster and the user who connects to it.

Their names and environment variables are those of kubernetes.core. Galaxy reads the documentation of a
collection without its dependencies, so a fragment of another collection would leave all modules without it.
"""

from __future__ import annotations


class ModuleDocFragment:
    """The fragment C(kyma.lifecycle.connection)."""

    DOCUMENTATION = r"""
options:
  kubeconfig:
    description:
      - The kubeconfig with the cluster and the user, as a path or as a dictionary with its content.
      - Several paths are separated by a colon, as in E(KUBECONFIG). If entries have the same name, the first
        one counts.
      - If it is not set, E(K8S_AUTH_KUBECONFIG), E(KUBECONFIG) and C(~/.kube/config) count, in this order. In
        a pod, the service account of the pod counts before the last two, unless O(context) is set.
      - It is not read if O(host) is set with O(api_key), with O(username) and O(password), or with
        O(client_cert) and O(client_key).
    type: raw
  context:
    description:
      - The context of the kubeconfig. Without it, the current context of the kubeconfig counts.
      - The environment variable is E(K8S_AUTH_CONTEXT).
    type: str
  host:
    description:
      - The address of the API server, such as V(https://api.example.com:6443). It replaces that of the
        kubeconfig.
      - The environment variable is E(K8S_AUTH_HOST).
    type: str
  api_key:
    description:
      - A bearer token. It replaces the token or password of the kubeconfig.
      - The environment variable is E(K8S_AUTH_API_KEY).
    type: str
  username:
    description:
      - The user of HTTP basic authentication, which needs O(password), too. The API server of Kubernetes does
        not support it, but a gateway in front of it may.
      - The environment variable is E(K8S_AUTH_USERNAME).
    type: str
  password:
    description:
      - The password of O(username).
      - The environment variable is E(K8S_AUTH_PASSWORD).
    type: str
  client_cert:
    description:
      - A PEM file with the certificate of the user.
      - The environment variable is E(K8S_AUTH_CLIENT_CERT) or E(K8S_AUTH_CERT_FILE).
    type: path
    aliases: [cert_file]
  client_key:
    description:
      - A PEM file with the private key of O(client_cert).
      - The environment variable is E(K8S_AUTH_CLIENT_KEY) or E(K8S_AUTH_KEY_FILE).
    type: path
    aliases: [key_file]
  ca_cert:
    description:
      - A PEM file with the certificate authorities that may have signed the certificate of the API server.
        Without it, those of the kubeconfig count, and otherwise those of the system.
      - The environment variable is E(K8S_AUTH_CA_CERT) or E(K8S_AUTH_SSL_CA_CERT).
    type: path
    aliases: [ssl_ca_cert]
  validate_certs:
    description:
      - Whether to check the certificate of the API server. Without it, the kubeconfig decides, and otherwise
        the certificate is checked.
      - The environment variable is E(K8S_AUTH_VALIDATE_CERTS) or E(K8S_AUTH_VERIFY_SSL). V(0), V(false) and
        V(no) mean no.
    type: bool
    aliases: [verify_ssl]
  proxy:
    description:
      - The address of the proxy in front of the API server, such as V(http://proxy.example.com:3128). A
        SOCKS proxy needs the library C(PySocks).
      - The environment variable is E(K8S_AUTH_PROXY). If neither is set, the C(proxy-url) of the kubeconfig
        counts, and then the usual variables, such as E(HTTPS_PROXY).
    type: str
  no_proxy:
    description:
      - The servers to which no proxy is used, separated by commas. An entry is a host, a domain with all of
        its hosts, an IP address or a network in CIDR notation. V(*) means all.
      - The environment variable is E(K8S_AUTH_NO_PROXY), and otherwise E(NO_PROXY).
    type: str
  proxy_headers:
    description:
      - What the proxy gets in the headers of a request.
    type: dict
    suboptions:
      proxy_basic_auth:
        description:
          - The login to the proxy, as C(user:password). It becomes the header C(Proxy-Authorization).
          - The environment variable is E(K8S_AUTH_PROXY_HEADERS_PROXY_BASIC_AUTH).
        type: str
      basic_auth:
        description:
          - A login as C(user:password) that becomes the header C(Authorization).
          - The environment variable is E(K8S_AUTH_PROXY_HEADERS_BASIC_AUTH).
        type: str
      user_agent:
        description:
          - The text of the header C(User-Agent).
          - The environment variable is E(K8S_AUTH_PROXY_HEADERS_USER_AGENT).
        type: str
  persist_config:
    description:
      - Whether to write a renewed token to the kubeconfig. It only matters for users with an
        C(auth-provider).
      - The environment variable is E(K8S_AUTH_PERSIST_CONFIG).
    type: bool
  impersonate_user:
    description:
      - The user to act as. The user who connects needs the right to impersonate this one.
      - The environment variable is E(K8S_AUTH_IMPERSONATE_USER).
    type: str
  impersonate_groups:
    description:
      - The groups to act as, together with O(impersonate_user).
      - The environment variable is E(K8S_AUTH_IMPERSONATE_GROUPS), with commas between the groups.
    type: list
    elements: str
"""
