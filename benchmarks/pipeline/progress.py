"""Progress messages with the time, on standard error."""

from __future__ import annotations

import sys
import time


def report_progress(text: str) -> None:
    """Print a line."""
    print(f"{time.strftime('%H:%M:%S')}  {text}", file=sys.stderr, flush=True)
