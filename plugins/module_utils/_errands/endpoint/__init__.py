# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What an engine answers by HTTP: whether it lives, whether it is ready, and its metrics.

Public modules: `http_endpoint`.
"""
