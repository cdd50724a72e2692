# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Documentation of the options that name a release."""

from __future__ import annotations


class ModuleDocFragment:
    """The fragment C(kyma.lifecycle.release)."""

    DOCUMENTATION = r"""
options:
  release:
    description:
      - The release, a directory, an archive (C(.tar.gz) or C(.tgz)), the URL of an archive, or a checkout of
        Kyma 2.x.
      - The controller reads it. A relative path is searched in the folder of the playbook, in that of the
        inventory, and in the directory where C(ansible-playbook) was started, in this order.
    type: str
  release_checksum:
    description:
      - The checksum of the archive, as C(sha256:) and 64 hexadecimal digits.
      - Required if O(release) is a URL.
    type: str
  profile:
    description:
      - The profile to render the release for, such as V(production) or V(evaluation). V(none) means no
        profile.
      - If it is empty, the profile that the cluster has. A new cluster gets the default of the release.
    type: str
  values_files:
    description:
      - Files with values, by component name. Later files override earlier ones, and all of them override the
        profile.
      - They may be encrypted by C(ansible-vault). Relative paths are searched like O(release).
    type: list
    elements: path
    default: []
  overrides:
    description:
      - Single values, each as C(component.key=value). Later ones override earlier ones, and all of them
        override files.
      - Ansible's output shows them. Put passwords into O(values_files).
    type: list
    elements: str
    default: []
  release_version:
    description:
      - The version of the release, if neither C(release.yaml) nor the name of its directory has it.
      - Use quotes, because V(2.10) without quotes is the number 2.1, which is refused.
    type: str
  component_list:
    description:
      - A component list of your own, instead of that of the release.
      - A relative path is searched like O(release).
    type: path
  helm_binary:
    description:
      - The C(helm) binary that renders charts on the controller. Only needed for releases with charts.
    type: str
    default: helm
"""
