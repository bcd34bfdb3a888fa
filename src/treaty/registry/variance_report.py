"""The report of a parallel run as Markdown and CSV, for the command line and the catalog."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping
from decimal import Decimal

from treaty.registry.model import ParallelRunAnswer
from treaty.registry.model.parallel_answers import DispositionAnswer, ExampleAnswer

_ACTIVE = re.compile(r"([\\`*_\[\]!|#~])")
CSV_COLUMNS = (
    "finding", "state", "class", "column", "pattern", "count", "effects", "involved", "first_seen", "disposition",
    "owner", "reason", "term", "decided_by", "decided_on",
)  # fmt: skip


def write_markdown(run: ParallelRunAnswer) -> str:
    """Return the daily report as Markdown."""
    lines = [
        f"# {run.feed} and {run.line} up to {run.as_of}",
        "",
        f"{run.legacy_rows:,} legacy rows, {run.new_rows:,} new rows, {_count(run.differences, 'difference')}, "
        f"{_count(run.undisposed, 'finding')} undecided.",
        "",
    ]
    for name in run.legacy_sums:
        lines.append(f"- {name}: {run.legacy_sums[name]:,} in legacy, {run.new_sums[name]:,} in new")
    lines += [
        "",
        "| finding | state | what differs | count | effect | decided |",
        "| --- | --- | --- | ---: | ---: | --- |",
    ]
    for finding in run.findings:
        decided = finding.disposition
        words = _decision(decided) if decided else ""
        cells = (
            finding.fingerprint,
            finding.state,
            finding.title,
            f"{finding.count:,}",
            format_amounts(finding.effects),
            words,
        )
        lines.append(f"| {' | '.join(map(_escape, cells))} |")
    for finding in run.findings:
        if finding.state != "disposed" and finding.examples:
            lines += ["", f"## {finding.fingerprint}", "", _escape(finding.title), ""]
            lines += map(_example, finding.examples)
    return "\n".join(lines) + "\n"


def write_csv(run: ParallelRunAnswer) -> str:
    """Return the findings as CSV; a cell that a spreadsheet would read as a formula gets a quote."""
    output = io.StringIO(newline="")
    writer = csv.writer(output, lineterminator="\n")
    writer.writerow(CSV_COLUMNS)
    for finding in run.findings:
        decided = finding.disposition
        cells = (
            finding.fingerprint,
            finding.state,
            finding.difference_class.value,
            finding.column,
            finding.pattern,
            str(finding.count),
            format_amounts(finding.effects),
            format_amounts(finding.involved),
            finding.first_seen.isoformat() if finding.first_seen else "",
            decided.disposition.value if decided else "",
            decided.owner if decided else "",
            decided.reason if decided else "",
            (decided.term or "") if decided else "",
            decided.decided_by if decided else "",
            decided.decided_at.date().isoformat() if decided else "",
        )
        writer.writerow([f"'{cell}" if cell.startswith(("=", "+", "-", "@", "\t")) else cell for cell in cells])
    return output.getvalue()


def format_amounts(amounts: Mapping[str, Decimal]) -> str:
    """Return the sums of money columns that are not zero, such as `net -38,110.50`."""
    return ", ".join(f"{name} {amount:,}" for name, amount in amounts.items() if amount)


def _example(one: ExampleAnswer) -> str:
    sides = (_escape(side or "—") for side in (one.legacy, one.new))
    return "- {}: {} in legacy, {} in new".format(_code(one.key), *sides)


def _decision(decided: DispositionAnswer) -> str:
    term = f" ({decided.term})" if decided.term else ""
    by = f"{decided.decided_by} on {decided.decided_at:%Y-%m-%d}"
    return f"{decided.disposition.replace('_', ' ')}{term}, {decided.owner}: {decided.reason}; {by}"


def _escape(text: str) -> str:
    """Escape text for a cell or a line of Markdown: no markup, tags, mentions or line breaks."""
    plain = "".join(character if character.isprintable() else " " for character in text)
    plain = _ACTIVE.sub(r"\\\1", plain).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return plain.replace("@", "&#64;")


def _code(text: str) -> str:
    plain = "".join(character if character.isprintable() else " " for character in text)
    return f"`{plain.replace('`', 'ˋ')}`"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun if number == 1 else noun + 's'}"
