# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""OpenTelemetry spans of the actions of a playbook on clusters.

`exporter_settings` decides whether spans are wanted, `playbook_trace` collects and sends them.

Public modules: `exporter_settings`, `playbook_trace`.
"""
