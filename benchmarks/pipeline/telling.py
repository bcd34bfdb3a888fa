"""Saying how far the benchmark has come, on stderr, with the time."""

from __future__ import annotations

import sys
import time


def tell(text: str) -> None:
    """Print a line."""
    print(f"{time.strftime('%H:%M:%S')}  {text}", file=sys.stderr, flush=True)
