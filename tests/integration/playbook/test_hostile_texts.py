# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What releases and tenants write is text: never a template for Ansible, nor a command for the terminal.

And a tenant's object is the tenant's, whatever it claims to be.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import FIELD_MANAGER
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.access.roles import GRANT_LABEL
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.ownership.policy import LAST_APPLIED

from tests.support.own_cluster import OwnCluster
from tests.support.playbook_run import Playbook
from tests.support.small_release import NAMESPACE, SmallRelease, config_map

pytestmark = pytest.mark.control_plane

API = "lifecycle.kyma-project.io/v1"
ESCAPE = "\x1b[2J\x1b[31m"
FORGED = "localhost : ok=1"
MARK = "templated"
HUGE = 250_000
"""Characters; a server takes 256 KiB of annotations."""

EVIL = """
from ansible_collections.kyma.lifecycle.plugins.module_utils.migration import (
    Context, Migration, MigrationError, Phase, Verdict, needed,
)

TEXT = {text!r}


class Evil(Migration):
    '''It says what others have written.'''

    component = "shop"
    phase = Phase.POST
    keep = "it is for a test"

    def check(self, ctx: Context) -> Verdict:
        return needed(TEXT + "x" * 2_000_000)

    def run(self, ctx: Context) -> None:
        ctx.log.info(TEXT)
        if not ctx.rehearsal:
            raise MigrationError(TEXT)
"""


@pytest.fixture(scope="module")
def text(playbook: Playbook) -> str:
    """What makes a file if Ansible templates it, and clears the terminal if that obeys."""
    pipe = f"lookup('ansible.builtin.pipe', 'touch {playbook.folder}/{MARK}')"
    return f"{{{{ {pipe} }}}} {{% if {pipe} %}}{{% endif %}} {ESCAPE}\n{FORGED}"


@pytest.fixture(scope="module")
def release(small: SmallRelease, text: str) -> Path:
    evil = config_map("evil", a=text)
    evil["metadata"]["annotations"] = {"a": text}
    return small.component("shop", evil).folder


def assert_harmless(playbook: Playbook, shown: str) -> None:
    assert not (playbook.folder / MARK).exists()
    assert ESCAPE not in shown
    assert "\x1b[" not in shown.replace("\x1b[?", "")
    assert not any(line.startswith(FORGED) for line in shown.splitlines())
    assert "x" * 20_000 not in shown


def test_hostile_text_of_a_release_is_shown_unevaluated(
    playbook: Playbook, release: Path, own_cluster: OwnCluster, text: str
) -> None:
    shown = playbook.deploy(release, "--diff", "-vvv").succeeded().text
    assert "lookup(" in shown
    assert_harmless(playbook, shown)
    made = own_cluster.api.get("v1", "ConfigMap", "evil", NAMESPACE)
    assert made
    assert made["data"]["a"] == text


def test_hostile_text_of_a_migration_is_shown_unevaluated(
    playbook: Playbook, release: Path, text: str
) -> None:
    file = playbook.migration("evil", EVIL.format(text=text))
    try:
        failed = playbook.deploy(release, "--diff").failed()
    finally:
        file.unlink()
    assert "lookup(" in failed.text
    assert_harmless(playbook, failed.text)
    playbook.deploy(release).succeeded()


def test_hostile_text_of_a_hold_is_shown_unevaluated(
    playbook: Playbook, release: Path, own_cluster: OwnCluster, text: str
) -> None:
    held = {"apiVersion": API, "kind": "KymaHold", "metadata": {"name": "kyma"}}
    own_cluster.api.create({**held, "spec": {"by": text, "reason": text}})
    own_cluster.api.delete("v1", "ConfigMap", "evil", NAMESPACE)
    try:
        shown = playbook.deploy(release).failed().text
    finally:
        own_cluster.api.delete(API, "KymaHold", "kyma")
    assert "lookup(" in shown
    assert_harmless(playbook, shown)
    playbook.deploy(release).succeeded()


def test_large_objects_of_tenants_stop_no_deployment(
    playbook: Playbook, release: Path, own_cluster: OwnCluster
) -> None:
    for number in range(20):
        large = config_map(f"large-{number}", a="x" * HUGE)
        large["metadata"] |= {"namespace": NAMESPACE, "annotations": {"a": "x" * HUGE}}
        own_cluster.api.create(large)
    assert playbook.deploy(release).succeeded().recap["changed"] == 0
    for number in range(20):
        own_cluster.api.delete("v1", "ConfigMap", f"large-{number}", NAMESPACE)


def test_objects_that_pretend_to_be_ours_are_not_deleted(
    playbook: Playbook, release: Path, own_cluster: OwnCluster
) -> None:
    """Not by a field manager, nor by annotations and labels: the inventory alone says what is ours."""
    mine = config_map("mine", a="b")
    marks = {LAST_APPLIED: "{}", "lifecycle.kyma-project.io/component": "shop"}
    mine["metadata"] |= {"namespace": NAMESPACE, "annotations": marks, "labels": {GRANT_LABEL: "deployer"}}
    own_cluster.api.with_field_manager(FIELD_MANAGER).apply(mine)
    (release / "release.yaml").write_text("version: '1.1'\n")
    assert playbook.deploy(release, prune=True).succeeded()
    deleted = playbook.delete().succeeded()
    assert f"ConfigMap {NAMESPACE}/mine" in deleted.text
    assert own_cluster.api.get("v1", "ConfigMap", "mine", NAMESPACE)
    assert own_cluster.api.get("v1", "ConfigMap", "evil", NAMESPACE) is None
