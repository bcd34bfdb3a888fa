"""Drawing what to look at first in a draft; on standard error, for the draft itself may be the output."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from treaty.cli.render.printable import visible
from treaty.contracts.model import locate_fields
from treaty.spark.profile.draft import collect_advice

if TYPE_CHECKING:
    from treaty.spark.profile import Inferred

_WIDTH = 110
_LONGEST_DATA = 60


def print_advice(inferred: Inferred, data: str, file: Path | None) -> None:
    """Print what was drafted, what to look at, and how to go on."""
    contract, profile = inferred.contract, inferred.profile
    fields = sum(1 for _, field, _ in locate_fields(contract) if field.name)
    _say(f"\ndrafted {contract.id}: {fields:,} fields from {profile.rows:,} rows; every term is a guess, see `guessed`")
    _say("Look first at")
    said = collect_advice(contract, profile)
    width = max(len(one.topic) for one in said)
    for one in said:
        _say_indented(one.topic.ljust(width), one.says)
    draft = str(file) if file else "DRAFT"
    shown = "DATA" if data.startswith("jdbc:") or len(data) > _LONGEST_DATA else data
    lint, test = f"treaty lint {draft}", f"treaty test {draft} {shown}"
    _say("Next")
    _say_indented(lint.ljust(len(test)), "what a reader would still have to ask")
    _say_indented(test, "these data keep it; do the next ones?")


def _say_indented(topic: str, text: str) -> None:
    margin = " " * (len(topic) + 5)
    lines = textwrap.wrap(visible(text), _WIDTH - len(margin)) or [""]
    _say(f"  {visible(topic)}   {lines[0]}")
    for line in lines[1:]:
        _say(margin + line)


def _say(line: str) -> None:
    typer.echo(line, err=True)
