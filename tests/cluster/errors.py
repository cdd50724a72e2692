"""The one exception of this package."""

from __future__ import annotations


class ClusterError(Exception):
    """What went wrong and what to do about it, in a sentence for a person."""
