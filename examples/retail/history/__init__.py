"""A deterministic history of the retailer's events, with known defects; standard library only."""

from __future__ import annotations

from .arriving import Arrival
from .generating import generate
from .marks import Mark, Outcome, Reason
from .options import Options, clean
from .writing import Occupied, write

__all__ = ["Arrival", "Mark", "Occupied", "Options", "Outcome", "Reason", "clean", "generate", "write"]
