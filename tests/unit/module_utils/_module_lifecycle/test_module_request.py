# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is wrong with a list of modules."""

from __future__ import annotations

from ansible_collections.kyma.lifecycle.plugins.module_utils._module_lifecycle.module_request import (
    ModuleRequest,
    ModulesRequest,
    request_problems,
)


def test_all_problems_of_a_list_are_reported_at_once() -> None:
    modules = (
        ModuleRequest("nats", needs=("eventing",)),
        ModuleRequest("eventing", needs=("nats",)),
        ModuleRequest("keda", channel="fast", version="1.0.0"),
        ModuleRequest("keda"),
    )
    problems = request_problems(ModulesRequest(modules, publish_namespace="kyma-system"))
    assert len(problems) == 4
    assert "keda is in the list 2 times" in problems[0]
    assert "a channel (fast) and a version (1.0.0)" in problems[1]
    assert "publish_namespace (kyma_modules_publish_namespace) is kyma-system" in problems[2]
    assert "in a circle" in problems[3]
    accepted = (ModuleRequest("nats"), ModuleRequest("eventing", needs=("nats",)))
    assert request_problems(ModulesRequest(accepted, publish_namespace="community")) == []
