# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The example of a platform team: ten tenants, a pull request, a quota, and drift that is mailed at night."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.cluster.certificates import write_private
from tests.cluster.paths import ROOT
from tests.support.extent import cases
from tests.support.kubectl import kubectl
from tests.support.store_user import User

pytestmark = [pytest.mark.cluster, pytest.mark.night]

EXAMPLE = ROOT / "examples" / "job_store" / "platform"
TENANTS = cases(
    ["atlas", "beacon", "cargo"], ["delta", "ember", "fjord", "grove", "harbor", "indigo", "juniper"]
)


class Platform:
    """A copy of the example, whose mails are kept.

    Args:
        folder: for the copy.
        kubeconfig: of the platform team.
    """

    def __init__(self, folder: Path, kubeconfig: str) -> None:
        self.folder = folder / "platform"
        self.mail = folder / "mail"
        shutil.copytree(EXAMPLE, self.folder)
        for file in self.folder.glob("tenants/*.yaml"):
            if file.stem not in TENANTS:
                file.unlink()
        sendmail = folder / "sendmail"
        sendmail.write_text(f"#!/bin/sh\ncat > {self.mail}\n")
        sendmail.chmod(0o755)
        self._variables = {
            "kyma_kubeconfig": kubeconfig,
            "platform_mail_to": "jobs@example.com",
            "platform_sendmail": str(sendmail),
        }

    def check(self, *, fails: bool = False) -> str:
        """Play the check by the account of CI."""
        return self.play("check.yml", "-e", f"kyma_kubeconfig={self._kubeconfig_of_ci()}", fails=fails)

    def _kubeconfig_of_ci(self) -> Path:
        admin, file = Path(self._variables["kyma_kubeconfig"]), self.folder / "ci"
        if not file.exists():
            kubectl(admin, "apply", "-f", str(EXAMPLE / "ci-account.yaml"))
            token = kubectl(admin, "create", "token", "check-jobs", "-n", "platform-ci").strip()
            config = yaml.safe_load(admin.read_text())
            users = [{"name": user["name"], "user": {"token": token}} for user in config["users"]]
            write_private(file, yaml.safe_dump({**config, "users": users}))
        return file

    def play(self, name: str, *arguments: str, fails: bool = False) -> str:
        """Play a playbook of the example; return what it prints."""
        done = subprocess.run(
            [
                *(sys.executable, "-m", "ansible.cli.playbook", str(self.folder / name)),
                *("-e", json.dumps(self._variables), *arguments),
            ],
            env={**os.environ, "ANSIBLE_NOCOLOR": "1", "ANSIBLE_LOCALHOST_WARNING": "0"},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert (done.returncode != 0) is fails, done.stdout + done.stderr
        return done.stdout + done.stderr

    def propose(self, tenant: str, *jobs: dict[str, object]) -> None:
        """Add jobs to the file of a tenant, as a pull request does."""
        file = self.folder / "tenants" / f"{tenant}.yaml"
        existing = yaml.safe_load(file.read_text()) if file.exists() else []
        file.write_text(yaml.safe_dump([*existing, *jobs]))


@pytest.fixture
def platform(admin: User, tmp_path: Path) -> Iterator[Platform]:
    yield Platform(tmp_path, admin.kubeconfig)
    for name in (*TENANTS, "new-tenant"):
        admin.admin.delete("v1", "Namespace", name)
    for obj in yaml.safe_load((EXAMPLE / "ci-account.yaml").read_text())["items"]:
        meta = obj["metadata"]
        admin.admin.delete(obj["apiVersion"], obj["kind"], meta["name"], meta.get("namespace"))


def test_ten_tenants_a_pull_request_a_quota_and_drift(admin: User, platform: Platform) -> None:
    assert len([*EXAMPLE.glob("tenants/*.yaml")]) == 10
    loaded = platform.play("load.yml")
    assert "atlas/report: created" in loaded
    assert f"{TENANTS[-1]}/" in loaded
    assert "nothing restricts the pods" not in loaded
    again = platform.play("load.yml")
    assert "changed=0" in again
    assert again.count("up to date") == loaded.count(": created")
    platform.play("drift.yml")
    assert not platform.mail.exists()

    # Containers that say nothing of their memory get limits, without which the quota would refuse them.
    metadata = {"name": "plain", "namespace": "atlas"}
    spec = {"containers": [{"name": "plain", "image": "plain:1"}]}
    created = admin.admin.create({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec})
    assert created["spec"]["containers"][0]["resources"]["limits"] == {"memory": "128Mi"}

    # A pull request: CI says what it would do, and writes nothing.
    sync = {"name": "sync", "type": "scheduled", "schedule": "@hourly", "image": "sync:1", "memory": "64Mi"}
    platform.propose("cargo", sync)
    platform.propose("newcomer", sync)
    checked = platform.check()
    assert "cargo/sync: created" in checked
    assert "beacon/inbox: up to date" in checked
    assert "new-tenant/sync: created" in checked
    assert admin.admin.get("v1", "Namespace", "newcomer") is None
    user = User(admin.kubeconfig, "cargo", admin.admin)
    assert user.runtime("sync") == []
    # Bad ones are refused.
    platform.propose("beacon", {"name": "web", "type": "continuous", "image": "web:1", "replica": 2})
    assert "beacon/web: replica is no field; did you mean replicas?" in platform.check(fails=True)
    platform.propose("kube-system", sync)
    # One bad file hides no other.
    platform.propose("atlas", {"name": "spy", "namespace": "cargo", "type": "one-off", "image": "spy:1"})
    both = platform.check(fails=True)
    assert "atlas.yaml sets a namespace" in both
    assert "beacon/web: replica is no field" in both
    assert "cargo/sync: created" in both
    assert "the namespace kube-system belongs to no tenant" in both
    assert "these failed, for the reasons above: atlas.yaml, beacon.yaml, kube-system.yaml" in both
    for tenant in ("newcomer", "kube-system"):
        (platform.folder / "tenants" / f"{tenant}.yaml").unlink()
    for tenant in ("atlas", "beacon"):
        shutil.copy(EXAMPLE / "tenants" / f"{tenant}.yaml", platform.folder / "tenants")
    # A quota refuses what is too much, and the others are loaded.
    platform.propose("cargo", *({**sync, "name": f"sync-{number}"} for number in range(4)))
    refused = platform.play("load.yml", fails=True)
    assert "cargo/sync: created" in refused
    assert "exceeded quota: tenant, requested: count/cronjobs.batch=1" in refused
    assert user.runtime("sync")

    # A job is changed by hand.
    admin.admin.patch("batch/v1", "CronJob", "sync", "cargo", {"spec": {"suspend": True}})
    platform.play("drift.yml")
    mail = platform.mail.read_text()
    assert mail.startswith("To: jobs@example.com\nSubject: jobs: 1 changed by hand, 0 not started\n")
    assert "cargo/sync: CronJob cargo/sync spec.suspend is\n  True,\n  not unset\n  by tests at 20" in mail
