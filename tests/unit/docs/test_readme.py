# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The README is short and says first for whom it is. Install and Playbooks list all that there is."""

from __future__ import annotations

import re

import pytest
import yaml

from tests.cluster.paths import ROOT
from tests.cluster.programs import HELM
from tests.support.reader import INSTALL, PLAYBOOKS, README, Page

WORDS = README.text.split()
MOST_WORDS = 600
"""A reader's first minute."""
HEADINGS = (
    "Description",
    "Requirements",
    "Installation",
    "Use Cases",
    "Testing",
    "Communication",
    "Support",
    "Release Notes",
    "License Information",
)
"""Those that Automation Hub asks for, in its order, and the community's section on communication."""
OTHERS = ("`kubernetes.core`", "Helm", "Argo CD", "Flux", "kapp", "kyma.lifecycle")
"""The tools of the comparison."""
SITES = ("kyma-project.io", "forum.ansible.com", "docs.ansible.com", "semver.org")
"""The sites that the README links to."""
LISTED = dict(re.findall(r"^\| (\w[\w ]*) \| (.*) \|$", PLAYBOOKS.text, re.MULTILINE))
LIBRARIES = (ROOT / "meta" / "ee-requirements.txt").read_text().split()


def test_the_readme_can_be_read_in_a_minute() -> None:
    assert len(WORDS) <= MOST_WORDS


def test_the_first_hundred_words_say_what_it_does_and_for_whom_and_for_whom_not() -> None:
    first = " ".join(WORDS[:100])
    assert re.search(r"Deploys releases of .* to Kubernetes clusters with Ansible", first)
    assert re.search(r"\*\*For\*\* teams .*\. \*\*Not for\*\* .*\.", first)


def test_the_readme_has_the_headings_that_readers_of_collections_know() -> None:
    assert tuple(re.findall(r"^## (.+)$", README.text, re.MULTILINE)) == HEADINGS


def test_the_comparison_has_a_row_for_each_tool() -> None:
    assert tuple(re.findall(r"^\| (\S[^|]*) \| [^|]{20,} \|$", README.text, re.MULTILINE)) == OTHERS


def test_the_readme_welcomes_to_the_forum_and_names_its_tag() -> None:
    section = README.text.partition("\n## Communication\n")[2].partition("\n## ")[0]
    assert "welcome" in section
    assert "[Get Help](https://forum.ansible.com/c/help/6)" in section
    assert "[`kubernetes`](https://forum.ansible.com/tag/kubernetes)" in section
    assert "(https://docs.ansible.com/ansible/latest/community/code_of_conduct.html)" in section


def test_the_readme_has_the_commands_for_a_checkout() -> None:
    (script,) = README.scripts("Testing")
    assert re.findall(r"^make \w+", script, re.MULTILINE) == ["make demo", "make test"]


def test_the_readme_and_the_page_have_the_same_commands() -> None:
    assert README.scripts("Installation") == INSTALL.scripts("Install the collection")[-1:]
    assert README.scripts("Use Cases") == INSTALL.scripts("Deploy the example release")


@pytest.mark.parametrize(
    ("kind", "places"),
    [
        ("roles", "roles/*"),
        ("modules", "plugins/modules/*.py"),
        ("filter", "plugins/filter/*.py"),
        ("callback", "plugins/callback/*.py"),
    ],
)
def test_the_page_lists_all_plugins_and_roles(kind: str, places: str) -> None:
    there = {path.stem for path in ROOT.glob(places)}
    assert there
    assert there <= set(re.findall(r"`(\w+)`", LISTED[kind]))


def test_the_page_has_a_command_for_each_playbook() -> None:
    commands = re.findall(
        r"^\| [^|]+ \| `ansible-playbook .*?kyma\.lifecycle\.(\w+)", PLAYBOOKS.text, re.MULTILINE
    )
    assert {*commands} == {path.stem for path in ROOT.glob("playbooks/*.yml")}


def test_the_list_of_needs_has_the_versions_of_the_metadata() -> None:
    needs = "\n".join(line for line in INSTALL.text.splitlines() if line.startswith("| ") and "`" in line)
    galaxy = yaml.safe_load((ROOT / "galaxy.yml").read_text())
    assert all(f"'{name}:{version}'" in needs for name, version in galaxy["dependencies"].items())
    core = yaml.safe_load((ROOT / "meta" / "runtime.yml").read_text())["requires_ansible"]
    assert f"'ansible-core{core}'" in needs
    assert f"ansible-core {core.removeprefix('>=')} or newer" in README.text
    tarball = f"{galaxy['namespace']}-{galaxy['name']}-{galaxy['version']}.tar.gz"
    assert tarball in README.text
    assert tarball in INSTALL.text


def test_the_libraries_of_an_execution_host_are_those_of_the_metadata() -> None:
    (command,) = re.findall(r"\| execution host \|.*`(pip install [^`]*)` \|$", INSTALL.text, re.MULTILINE)
    assert command == " ".join(["pip install", *(f"'{one}'" for one in LIBRARIES)])


def test_the_example_of_a_download_of_helm_is_the_version_of_the_tests() -> None:
    printed = re.findall(r"helm-(v[\d.]+)-linux-amd64", INSTALL.text)
    assert {*printed} == {HELM.version_of("helm")}


@pytest.mark.parametrize("page", [README, INSTALL, PLAYBOOKS], ids=["README", "install", "playbooks"])
def test_a_page_names_only_files_of_the_collection(page: Page) -> None:
    named = r"(?:kyma_release: |kyma_release=|kyma_modules_catalog: \[)(examples/[^\s\]]+)"
    places = re.findall(named, page.text)
    assert len(places) > 1
    assert [place for place in places if not (ROOT / place).exists()] == []


def test_the_readme_links_only_to_known_sites() -> None:
    addresses = re.findall(r"https?://([^\s)/]+)", README.text)
    assert {*addresses} == {*SITES}
