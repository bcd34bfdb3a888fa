"""Rendering of the dependency map, of scans, and of what people say of consumers."""

from __future__ import annotations

from collections.abc import Sequence

import typer
from rich.console import Console
from rich.text import Text

from treaty.cli.options import AnswerFormat
from treaty.cli.render.console import print_to_console, text
from treaty.cli.render.output import print_data
from treaty.cli.render.plain_text import pluralize, printable
from treaty.cli.render.tables import facts, listing
from treaty.legacy.scanned_reads import Scan
from treaty.registry.model import (
    ConsumerProfileAnswer,
    HiddenDependencyAnswer,
    MapEntryAnswer,
    NearDuplicateAnswer,
    ScanReceiptAnswer,
)

_MAX_COLUMNS = 6
_MAX_PROBLEMS = 20


def render_map(console: Console, entries: Sequence[MapEntryAnswer]) -> None:
    """Render consumers and their sources, one in each row."""
    console.print(
        listing(
            ("consumer", "team", "class", "reads", "kind", "served by", "columns", "latency", "known by"),
            (
                (
                    entry.consumer,
                    entry.team or "",
                    _class_text(entry),
                    entry.source,
                    text(f"{entry.source_kind}, direct", style="error" if entry.critical else "warning")
                    if entry.direct
                    else entry.source_kind,
                    entry.served_by or "",
                    _columns(entry.columns),
                    entry.latency or "",
                    ", ".join(entry.evidence),
                )
                for entry in entries
            ),
        )
    )


def render_duplicates(console: Console, pairs: Sequence[NearDuplicateAnswer]) -> None:
    """Render pairs of publications, one in each row."""
    console.print(
        listing(
            ("publication", "is nearly the same as", "similar", "schema", "lineage", "shared fields"),
            (
                (
                    pair.first,
                    pair.second,
                    f"{pair.score:.0%}",
                    f"{pair.schema_share:.0%}",
                    "not known" if pair.lineage_share is None else f"{pair.lineage_share:.0%}",
                    _columns(pair.shared),
                )
                for pair in pairs
            ),
        )
    )


def render_hidden_dependencies(console: Console, found: Sequence[HiddenDependencyAnswer]) -> None:
    """Render hidden dependencies, one block each."""
    for one in found:
        title = text(one.consumer, style="path").append_text(text(f"  {one.line}", style="accent"))
        console.print(title.append_text(text(f"  {one.kind.value.replace('_', ' ')}", style="warning")))
        rows = [
            ("", text(one.message)),
            ("next", text(one.hint)),
            ("known by", text(", ".join(one.evidence))),
            ("in", text(", ".join(one.places))),
            ("team", text(one.team or "")),
        ]
        console.print(facts([(name, value) for name, value in rows if value]))


def print_scan(scan: Scan, receipt: ScanReceiptAnswer | None, output: AnswerFormat) -> None:
    """Print what a scan found, what it could not read, and what became of it."""
    if output is AnswerFormat.JSON:
        print_data(
            {
                "files": scan.files,
                "recorded": receipt.model_dump(mode="json") if receipt else None,
                "reads": [
                    {
                        "consumer": read.consumer,
                        "team": read.team,
                        "source": read.source,
                        "columns": sorted(read.columns),
                        "kind": read.kind,
                        "class": read.guess.consumer_class.value,
                        "confidence": read.guess.confidence,
                        "reason": read.guess.reason,
                        "latency": read.latency,
                        "places": list(read.places),
                    }
                    for read in scan.reads
                ],
                "problems": [{"place": one.place, "problem": one.problem} for one in scan.problems],
            }
        )
        return
    with print_to_console() as console:
        console.print(
            listing(
                ("consumer", "team", "reads", "columns", "class (guessed)", "found in"),
                (
                    (
                        read.consumer,
                        read.team or "",
                        read.source,
                        _columns(sorted(read.columns - {"*"})),
                        f"{read.guess.consumer_class.replace('_', ' ')} {read.guess.confidence:.0%}",
                        ", ".join(read.places),
                    )
                    for read in scan.reads
                ),
            )
        )
    for problem in scan.problems[:_MAX_PROBLEMS]:
        typer.echo(printable(f"not read: {problem.place}: {problem.problem}"))
    if len(scan.problems) > _MAX_PROBLEMS:
        typer.echo(f"and {len(scan.problems) - _MAX_PROBLEMS:,} more that could not be read; see --format json")
    consumers = pluralize(len({read.consumer for read in scan.reads}), "consumer")
    found = f"{pluralize(scan.files, 'file')}: {consumers}, {pluralize(len(scan.reads), 'dependency', 'dependencies')}"
    stored = "nothing stored" if receipt is None else f"stored as {printable(receipt.scan)}"
    typer.echo(f"{found}; {stored}")


def render_profile(console: Console, profile: ConsumerProfileAnswer) -> None:
    """Render what people said of a consumer."""
    console.print(text(profile.consumer, style="path"))
    rows: list[tuple[str, str | Text]] = [
        ("Class", profile.consumer_class.replace("_", " ") if profile.consumer_class else "not stated"),
        ("Latency", profile.latency or "not stated"),
        ("Decision", profile.decision or "not stated"),
        ("Team", profile.team or "not stated"),
    ]
    console.print(facts(rows))


def _class_text(entry: MapEntryAnswer) -> Text:
    name = entry.consumer_class.replace("_", " ")
    guessed = f" ({entry.class_confidence:.0%})" if entry.class_confidence is not None else ""
    return text(f"{name}{guessed}", style="warning" if entry.critical else "")


def _columns(names: Sequence[str]) -> str:
    if not names:
        return "all"
    more = len(names) - _MAX_COLUMNS
    return ", ".join(names[:_MAX_COLUMNS]) + (f" and {more} more" if more > 0 else "")
