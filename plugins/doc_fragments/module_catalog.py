# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Documentation of the options that name a catalog of modules."""

from __future__ import annotations


class ModuleDocFragment:
    """The fragment C(kyma.lifecycle.module_catalog)."""

    DOCUMENTATION = r"""
options:
  catalog:
    description:
      - Where the catalog is. It consists of the ModuleTemplates and ModuleReleaseMetas of
        C(operator.kyma-project.io/v1beta2) as Kyma publishes them.
      - Each element is a file, a folder that is searched for YAML and JSON files, or a URL. V(cluster) is for
        the documents in the cluster itself, without those of Kyma's lifecycle manager.
      - V(community) is for Kyma's community modules,
        U(https://kyma-project.github.io/community-modules/all-modules.json). For these modules, Kyma promises
        no support and no upgrades. They have no channels, so V(latest) is the channel of the highest release.
      - An element can be a dictionary of C(source) and C(sha256), which pins the content of a file or a URL.
      - The same template in several places counts once. Two templates of one version that differ are an
        error of their module.
      - A path is relative to the playbook, to the inventory, or to the folder in which Ansible was started.
      - The link of a manifest can be a path if the template is a local file. It starts at the folder of the
        template.
    type: list
    elements: raw
    default: [cluster]
  catalog_cache:
    description:
      - The folder on the controller for downloads. A pinned file that it has is not downloaded again.
        If a download fails, the last copy is used, with a warning.
      - Copy the folder to use the catalog on a controller without access to the internet.
    type: str
    default: ~/.cache/kyma.lifecycle/manifests
  checksums:
    description:
      - The sha256 of manifests, by their link or path. A manifest without one is reported as unpinned.
    type: dict
    default: {}
  cluster_labels:
    description:
      - Labels of the cluster. Beta and internal modules, and modules with a C(kymaSelector), are installed
        only where the labels allow it. The rules of a maintenance policy match them, too.
    type: dict
    default: {}
"""
