"""Time to load, lint and judge contracts, against the YAML parser alone."""

from __future__ import annotations

from datetime import date

import yaml

from benchmarks.documents import contract_text
from benchmarks.timing import medians, table
from treaty.compatibility import diff, judge
from treaty.contracts import load
from treaty.governance.lint import LintSettings, lint

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_SIZES = (100, 1_000, 10_000)
_ROUNDS = {100: 30, 1_000: 15, 10_000: 5}
_TODAY = date(2026, 1, 1)


def run() -> str:
    """Measure documents of several sizes, one field in ten changed."""
    rows = []
    for size in _SIZES:
        before_text, after_text = contract_text(size), contract_text(size, changed=True, version="2.0.0")
        loaded, changed = load(before_text), load(after_text)
        taken = medians(
            {
                "yaml": lambda text=before_text: yaml.load(text, Loader=_LOADER),  # type: ignore[misc]  # noqa: S506
                "load": lambda text=before_text: load(text),  # type: ignore[misc]
                "lint": lambda loaded=loaded: lint(loaded, LintSettings(), _TODAY),  # type: ignore[misc]
                "judge": lambda before=loaded.contract, after=changed.contract: judge(diff(before, after)),  # type: ignore[misc]
            },
            _ROUNDS[size],
        )
        rows.append(
            (
                f"{size:,}",
                f"{taken['yaml'] * 1e3:.1f} ms",
                f"{taken['load'] * 1e3:.1f} ms",
                f"{taken['load'] / taken['yaml']:.2f}",
                f"{taken['lint'] * 1e3:.1f} ms",
                f"{taken['lint'] / taken['load']:.2f}",
                f"{taken['judge'] * 1e3:.1f} ms",
                f"{taken['judge'] / taken['yaml']:.3f}",
            )
        )
    header = (
        "fields",
        "YAML reader alone (floor)",
        "load: read, validate, model",
        "ratio",
        "lint",
        "to load",
        "diff + judge",
        "ratio",
    )
    return table(header, rows)
