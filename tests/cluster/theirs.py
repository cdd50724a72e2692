# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The user's own cluster, from KUBECONFIG."""

from __future__ import annotations

import os

import yaml

from . import certificates, paths
from .build import build
from .command import output
from .console import say
from .errors import ClusterError
from .programs import HELM, KUBERNETES


def up() -> None:
    """Check that it answers, and write its kubeconfig where everything else reads it."""
    build((KUBERNETES, HELM), only=("kubectl", "helm"))
    kubectl = paths.BIN / "kubectl"
    source = os.environ["KUBECONFIG"]
    try:
        output([kubectl, "version", "--request-timeout=10s"])
    except ClusterError as error:
        raise ClusterError(
            f"The cluster of KUBECONFIG={source} doesn't answer: "
            f"unset KUBECONFIG to get a cluster of your own here.\n{error}"
        ) from error
    text = output([kubectl, "config", "view", "--minify", "--flatten", "--raw"])
    certificates.write_private(paths.KUBECONFIG, text)
    config = yaml.safe_load(text)
    server = config["clusters"][0]["cluster"]["server"]
    say(f"using your own cluster: context {config['current-context']} of KUBECONFIG={source}, at {server}")
