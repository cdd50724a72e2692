# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""All paths: `.build` can be shared and rebuilt, `.cluster` is what runs."""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
TOOLS = HERE / "tools"
STAGES = HERE / "stages"

BUILD = ROOT / ".build"
VERSIONS = "KYMA_TEST_VERSIONS"
"""The variable that says which programs of Kubernetes and Helm are built and run: `newest` or `oldest`."""
BINS = {"newest": BUILD / "bin", "oldest": BUILD / "bin-oldest"}
BIN = BINS[os.environ.get(VERSIONS, "newest")]
IS_OLDEST = os.environ.get(VERSIONS) == "oldest"
KWOK_FILES = BUILD / "kwok"
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "kyma-lifecycle"
"""For what depends on no file of the checkout: all checkouts of a user share it."""

STATE = Path(os.environ.get("KYMA_CLUSTER_DIR") or ROOT / ".cluster").absolute()
"""Another folder is another cluster: tests that need one to themselves name their own."""
KUBECONFIG = STATE / "kubeconfig"
GIVEN = STATE / "given"
"""The file that exists while `kubeconfig` is a copy of the user's; it has the path of the original."""
AUDIT_LOG = STATE / "audit.log"
LOGS = STATE / "log"
PROCESSES = STATE / "processes"
KIND = STATE / "kind"
KIND_KUBECONFIG = KIND / "kubeconfig"
