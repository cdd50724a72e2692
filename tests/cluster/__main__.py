from __future__ import annotations
from .build import build
build()
