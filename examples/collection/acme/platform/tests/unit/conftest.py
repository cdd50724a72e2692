# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Fixtures of kyma.lifecycle, such as ``kyma_api_server``."""

pytest_plugins = ["ansible_collections.kyma.lifecycle.plugins.plugin_utils.migration_pytest"]
