"""What a proposed version would do to published rows, as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.text import Text

from treaty.cli.render.console import STYLES, text
from treaty.cli.render.tables import facts
from treaty.contracts.findings import Severity
from treaty.review.data_impact import RowExample, RuleImpact, TableImpact

MAX_EXAMPLES_PER_RULE = 3


def describe_example(example: RowExample) -> str:
    """Describe a value that violates a rule: how often it occurs, and the key of one row."""
    value = "no value" if example.value is None else example.value
    key = ", ".join(f"{name} {part}" for name, part in example.key if part is not None)
    return f"{value} ({example.rows:,} ×{f', {key}' if key else ''})"


def describe_rule(impact: RuleImpact) -> str:
    """Describe a violated rule: the field, the number of rows, and what it requires."""
    rows = "the table" if impact.rows is None else f"{impact.rows:,} {'row' if impact.rows == 1 else 'rows'}"
    subject = f"{impact.field}: {rows}" if impact.field else rows
    return f"{subject}: {impact.requirement}"


def impact_lines(table: TableImpact) -> Iterator[Text]:
    """Yield the headline of a table, then each violated rule with its examples."""
    is_bad = bool(table.refused) or table.problem is not None
    yield text(table.headline, style=STYLES[Severity.WARNING] if is_bad else "good")
    for impact in table.rules:
        line = text(describe_rule(impact), style=STYLES[impact.severity])
        line.append_text(text(f"  {impact.rule}", style="quiet"))
        examples = table.examples_of(impact.rule)[:MAX_EXAMPLES_PER_RULE]
        if examples:
            line.append("\n").append_text(text(", ".join(map(describe_example, examples)), style="quiet"))
        yield line


def render_impacts(console: Console, tables: Sequence[TableImpact]) -> None:
    """Render the tables of one contract."""
    lines = [line for table in tables for line in impact_lines(table)]
    if not lines:
        console.print(facts([("Rows", "the project publishes no table of this contract")]))
        return
    console.print(facts([("Rows" if number == 0 else "", line) for number, line in enumerate(lines)]))
