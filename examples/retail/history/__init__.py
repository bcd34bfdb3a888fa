"""A deterministic history of the retailer's events with known defects; standard library only."""

from __future__ import annotations

from .arrivals import Arrival
from .defect_marks import Mark, Outcome, Reason
from .generator import generate
from .options import Options, clean
from .writer import Occupied, write

__all__ = ["Arrival", "Mark", "Occupied", "Options", "Outcome", "Reason", "clean", "generate", "write"]
