"""Write a history of the retailer's events: `python -m examples.retail.history OUT --orders 10000`."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

from .events import EVENTS
from .options import BATCHES, HUGE_LINE, LATE_SHARE, LONG_LINE, Options
from .writer import Occupied, write

_DEFAULT = Options()


def main(arguments: list[str] | None = None) -> int:
    """Write a history with the given arguments, and print a summary."""
    parser = _parser()
    asked = parser.parse_args(arguments)
    is_clean = asked.clean or asked.defects == "off"
    late_share = asked.late_share if asked.late_share is not None else 0.0 if is_clean else LATE_SHARE
    if asked.workers < 1:
        parser.error(f"workers is {asked.workers}; give at least 1")
    try:
        options = replace(
            _DEFAULT,
            orders=asked.orders,
            seed=asked.seed,
            days=asked.days,
            start=asked.start,
            wave=asked.wave,
            defects=not is_clean,
            late_share=late_share,
            poison=not asked.no_poison,
            only=tuple(asked.only or ()),
            batch=asked.batch,
            long_line=HUGE_LINE if asked.huge_line else LONG_LINE,
        )
        told = write(options, asked.out, asked.workers)
    except (ValueError, Occupied) as error:
        parser.error(str(error))
    _show(told, asked.out)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m examples.retail.history",
        description="Write the retailer's events as JSON lines, in the order in which they arrive, with a ledger of "
        "the defects that were put in on purpose. The same arguments always give the same bytes.",
    )
    parser.add_argument("out", metavar="OUT", type=Path, help="folder to write to; new or empty, save for later waves")
    parser.add_argument("--orders", type=int, default=_DEFAULT.orders, help="orders of the first wave (%(default)s)")
    parser.add_argument("--seed", type=int, default=_DEFAULT.seed, help="another seed, another history (%(default)s)")
    parser.add_argument("--days", type=int, default=_DEFAULT.days, help="days of trade (%(default)s)")
    parser.add_argument("--start", type=date.fromisoformat, default=_DEFAULT.start, help="first day (%(default)s)")
    parser.add_argument("--wave", type=int, default=1, help="2 goes on where 1 ended, and so on (%(default)s)")
    parser.add_argument("--defects", choices=("on", "off"), default="on", help="put defects in (%(default)s)")
    parser.add_argument("--late-share", type=float, help=f"share of orders with a late event ({LATE_SHARE}; clean: 0)")
    parser.add_argument(
        "--no-poison", action="store_true", help="no lines that are no JSON objects; other defects stay"
    )
    parser.add_argument("--clean", action="store_true", help="no defects and nothing late, for benchmarks")
    parser.add_argument("--only", action="append", choices=[event.short for event in EVENTS], help="only this event")
    parser.add_argument("--batch", choices=BATCHES, default=_DEFAULT.batch, help="arrivals in one file (%(default)s)")
    parser.add_argument("--huge-line", action="store_true", help="make the very long line 10 MB instead of 256 KB")
    parser.add_argument("--workers", type=int, default=1, help="processes; the bytes stay the same (%(default)s)")
    return parser


def _show(told: dict[str, Any], out: Path) -> None:
    print(f"{told['arrivals']['lines']:,} lines in {out}, {told['arrivals']['first']} to {told['arrivals']['last']}")
    for name, counts in told["events"].items():
        print(f"  {name:<40}{counts['lines']:>10,} lines {counts['files']:>6,} files")
    expected = ", ".join(f"{count:,} {outcome}" for outcome, count in told["expected"].items())
    print(f"expected: {expected or 'no defects'}")


if __name__ == "__main__":
    sys.exit(main())
