# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Documentation of the option that limits what a release or a module uses of the controller."""

from __future__ import annotations


class ModuleDocFragment:
    """The fragment C(kyma.lifecycle.limits)."""

    DOCUMENTATION = r"""
options:
  limits:
    description:
      - How much of the controller a release or a module may use. What exceeds a limit is refused. A program
        that exceeds one is killed with all that it has started.
    type: dict
    suboptions:
      rendered_mb:
        description:
          - Megabytes of the output of C(helm) or C(kustomize), and of each manifest or catalog that is read.
        type: int
        default: 64
      rendering_seconds:
        description:
          - Seconds that C(helm) or C(kustomize) may take for a component.
        type: int
        default: 120
      memory_mb:
        description:
          - Megabytes of memory that C(helm) or C(kustomize) may use. Only enforced on Linux.
        type: int
        default: 300
      download_mb:
        description:
          - Megabytes of a download.
        type: int
        default: 256
      download_seconds:
        description:
          - Seconds that a download may take, with its redirects.
        type: int
        default: 600
      archive_mb:
        description:
          - Megabytes of the unpacked files of an archive, and of a folder with a chart or a kustomization.
        type: int
        default: 1024
      archive_files:
        description:
          - How many files and folders an archive, or such a folder, may have.
        type: int
        default: 50000
      objects:
        description:
          - How many objects a release, or the manifest of a module, may have. A file may have as many
            documents.
        type: int
        default: 20000
"""
