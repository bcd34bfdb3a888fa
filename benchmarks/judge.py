"""Time to load and judge contracts, against the YAML parser alone."""

from __future__ import annotations

import yaml

from benchmarks.documents import contract_text
from benchmarks.timing import medians, table
from treaty.compatibility import diff, judge
from treaty.contracts import load

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_SIZES = (100, 1_000, 10_000)
_ROUNDS = {100: 30, 1_000: 15, 10_000: 5}


def run() -> str:
    """Measure documents of several sizes, one field in ten changed."""
    rows = []
    for size in _SIZES:
        before_text, after_text = contract_text(size), contract_text(size, changed=True, version="2.0.0")
        before, after = load(before_text).contract, load(after_text).contract
        taken = medians(
            {
                "yaml": lambda text=before_text: yaml.load(text, Loader=_LOADER),  # type: ignore[misc]  # noqa: S506
                "load": lambda text=before_text: load(text),  # type: ignore[misc]
                "judge": lambda one=before, other=after: judge(diff(one, other)),  # type: ignore[misc]
            },
            _ROUNDS[size],
        )
        rows.append(
            (
                f"{size:,}",
                f"{taken['yaml'] * 1e3:.1f} ms",
                f"{taken['load'] * 1e3:.1f} ms",
                f"{taken['load'] / taken['yaml']:.2f}",
                f"{taken['judge'] * 1e3:.1f} ms",
                f"{taken['judge'] / taken['yaml']:.3f}",
            )
        )
    header = ("fields", "YAML reader alone (floor)", "load: read, validate, model", "ratio", "diff + judge", "ratio")
    return table(header, rows)
