"""The case files of patterns."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import yaml

CASES = Path(__file__).parents[1] / "cases" / "regex"


@dataclass(frozen=True, slots=True)
class Case:
    """A pattern with texts that match it and texts that do not."""

    pattern: str
    matches: tuple[str, ...]
    fails: tuple[str, ...]
    regex: bool | None


def cases(name: str) -> list[Case]:
    """Read one case file."""
    documents = yaml.safe_load((CASES / f"{name}.yaml").read_text())
    return [
        Case(case["pattern"], tuple(case["matches"]), tuple(case["fails"]), case.get("regex")) for case in documents
    ]
