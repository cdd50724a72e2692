# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The interface to Kubernetes: `Cluster`, an abstract class over plain dicts, and its wrappers.

Other packages import: `cluster` (the class and references to objects), `errors`, `kinds`, `fence`,
`informer`, `http.connection.connect`.
"""
