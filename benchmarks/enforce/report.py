"""The result tables: what each contender took, and where its counts differ from the seeded ones."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.enforce.runner import Outcome
from benchmarks.timing import table

_HEADER = ("case", "contender", "CPU", "floor", "ratio", "wall", "cold CPU", "cold wall", "peak memory", "right counts")


def cost_table(outcomes: Sequence[Outcome], expected: dict[str, int]) -> str:
    """Return what each case took, the cheapest first."""
    ordered = sorted(outcomes, key=lambda outcome: (outcome.case, outcome.median("ratio")))
    return table(_HEADER, [_row(outcome, expected) for outcome in ordered])


def differences(outcomes: Sequence[Outcome], expected: dict[str, int]) -> str:
    """List the counts that are not as seeded."""
    lines = []
    for outcome in outcomes:
        answer = outcome.samples[-1].answer
        wrong = [
            f"{rule} {answer[rule]:,} for {expected[rule]:,}" for rule in answer if not _right(answer, rule, expected)
        ]
        if wrong:
            lines.append(f"- {outcome.entry.name}, {outcome.case}: {', '.join(wrong)}")
    return "\n".join(lines) or "Every count is as it was seeded."


def _row(outcome: Outcome, expected: dict[str, int]) -> tuple[str, ...]:
    answer = outcome.samples[-1].answer
    right = sum(_right(answer, rule, expected) for rule in answer)
    return (
        outcome.case,
        outcome.entry.name,
        f"{outcome.median('cpu'):.1f} s",
        f"{outcome.median('floor_cpu'):.1f} s",
        f"{outcome.median('ratio'):.2f}",
        f"{outcome.median('wall'):.1f} s",
        f"{outcome.median('cold_cpu'):.1f} s",
        f"{outcome.median('cold_wall'):.1f} s",
        f"{outcome.median('peak') / 2**20:,.0f} MB",
        f"{right} of {len(answer)}" if answer else "none",
    )


def _right(answer: dict[str, int], rule: str, expected: dict[str, int]) -> bool:
    return answer[rule] == expected[rule]
