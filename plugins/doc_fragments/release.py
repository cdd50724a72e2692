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
      - It is read on the controller. A relative path is looked for beside the playbook, beside the inventory,
        and in the directory where C(ansible-playbook) was started, in this order.
    type: str
  release_checksum:
    description:
      - The checksum of the archive, as C(sha256:) and 64 hexadecimal digits.
      - Required where O(release) is a URL.
    type: str
  profile:
    description:
      - The profile to render the release for, such as V(production) or V(evaluation).
      - Without it, the release's own default.
    type: str
  values_files:
    description:
      - Files with values, by component name. Later files win, and all of them win over the profile.
      - They may be encrypted by C(ansible-vault). Relative paths are looked for like O(release).
    type: list
    elements: path
    default: []
  overrides:
    description:
      - Single values, each as C(component.key=value). Later ones win, and all of them win over files.
      - They show in Ansible's output. Passwords belong in O(values_files).
    type: list
    elements: str
    default: []
  release_version:
    description:
      - The version of the release, where neither C(release.yaml) nor the name of its directory tells it.
      - In quotes, as V(2.10) would be the number 2.1 without, which is refused.
    type: str
  component_list:
    description:
      - A component list of one's own to use instead of the release's.
      - A relative path is looked for like O(release).
    type: path
  helm_binary:
    description:
      - The C(helm) that renders charts on the controller. Only needed for releases that contain charts.
    type: str
    default: helm
"""
