"""Advice on a drafted contract, printed on standard error because the draft may be on standard output."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from treaty.cli.render.plain_text import pluralize, printable
from treaty.contracts.model import locate_fields
from treaty.spark.profile.draft import collect_advice, collect_decisions

if TYPE_CHECKING:
    from treaty.spark.profile import Inferred

LINE_WIDTH = 110
MAX_DATA_CHARACTERS = 60


def draft_header(inferred: Inferred, data: str) -> str:
    """Return the comments at the top of a draft: where it comes from, and what to decide next."""
    rows = inferred.profile.sample or f"all {pluralize(inferred.profile.rows, 'row')}"
    source = "" if data.startswith("jdbc:") else f" in {printable(data)}"
    lines = [
        f"Draft of {inferred.contract.id}, inferred from {rows}{source}.",
        "Every term is a guess; `guessed` has its confidence and evidence. Decide next:",
    ]
    for number, decision in enumerate(collect_decisions(inferred), start=1):
        first, *more = textwrap.wrap(printable(decision), LINE_WIDTH - 6)
        lines += [f"{number:>3}. {first}", *(f"     {line}" for line in more)]
    return "".join(f"# {line}\n" for line in lines)


def print_advice(inferred: Inferred, data: str, file: Path | None) -> None:
    """Print a summary of the draft, what to review first, and the next steps."""
    contract, profile = inferred.contract, inferred.profile
    fields = sum(1 for _, field, _ in locate_fields(contract) if field.name)
    size = f"{pluralize(fields, 'field')} from {pluralize(profile.rows, 'row')}"
    _print(f"\ndrafted {contract.id}: {size}; every term is a guess, explained in `guessed`")
    if inferred.near_misses:
        share = f"{pluralize(inferred.quarantined, 'row')} of {profile.rows + profile.malformed:,}"
        _print(f"Near misses: {share} would be quarantined under this draft")
        for miss in inferred.near_misses:
            _print_indented(miss.field, miss.evidence)
    _print("Review first")
    topics = collect_advice(contract, profile)
    width = max(len(one.topic) for one in topics)
    for topic in topics:
        _print_indented(topic.topic.ljust(width), topic.message)
    draft = str(file) if file else "DRAFT"
    data_argument = "DATA" if data.startswith("jdbc:") or len(data) > MAX_DATA_CHARACTERS else data
    lint, test = f"treaty lint {draft}", f"treaty test {draft} {data_argument}"
    _print("Next")
    _print_indented(lint.ljust(len(test)), "find what readers would have to ask")
    _print_indented(test, "test new data against the draft")


def _print_indented(topic: str, text: str) -> None:
    margin = " " * (len(topic) + 5)
    lines = textwrap.wrap(printable(text), LINE_WIDTH - len(margin)) or [""]
    _print(f"  {printable(topic)}   {lines[0]}")
    for line in lines[1:]:
        _print(margin + line)


def _print(line: str) -> None:
    typer.echo(line, err=True)
