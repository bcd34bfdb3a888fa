"""`treaty init`: a project to start from."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

_PROJECT = """\
# The settings of this project; every one has a default.
name: {name}

# The mode that changes are judged under; a contract may pin a stricter one.
compatibility: backward

# Re-grade a kind of change (see: treaty kinds) or a lint rule (see: treaty rules).
grading: {{}}
lint:
  rules: {{}}

# Findings set aside for a while, each with an owner, a reason and an end date:
#   - {{rule: name-bare, contract: orders, owner: checkout, reason: renamed in 2.0.0, until: "2026-12-31"}}
waivers: []
"""

_CONTRACT = """\
apiVersion: v3.2.0
kind: DataContract
id: orders
name: Orders
version: 1.0.0
status: draft
description:
  purpose: One row per order that checkout accepted. Fulfilment and revenue reports start from it.

owners:
  - team: checkout
    contact: "#checkout"

schema:
  - name: orders
    properties:
      - name: order_id
        logicalType: string
        required: true
        primaryKey: true
        description: Identifies an order for ever; minted once by checkout and never used again.
      - name: placed_at
        logicalType: timestamp
        logicalTypeOptions: {timezone: true, defaultTimezone: Etc/UTC}
        required: true
        description: When the customer's payment was authorised, in UTC.
      - name: gross_total
        logicalType: number
        physicalType: decimal(12,2)
        required: true
        unit: EUR
        description: What the customer pays, tax included, after all discounts.

slaProperties:
  - {property: freshness, value: 30, unit: min}
change_policy:
  compatibility: backward
  notice: 30 d
"""

_NEXT_STEPS = (
    ("treaty lint {folder}", "is it legible?"),
    ("treaty diff OLD NEW", "what does a change break, and which version must it have?"),
    ("treaty kinds", "what is graded, and why"),
    ("treaty register {folder}", "put it on record; then: treaty subscribe, treaty impact"),
)


def run(
    folder: Annotated[Path, typer.Argument(help="Where to put the project.")] = Path(),
) -> None:
    """Start a project.

    Writes a project file and a first contract; nothing is overwritten.
    """
    from treaty.contracts.text.writer import write_json
    from treaty.errors import Conflict, Unavailable
    from treaty.settings import PROJECT_FILE

    name = folder.resolve().name or "project"
    quoted = write_json(name).strip()
    files = {folder / PROJECT_FILE: _PROJECT.format(name=quoted), folder / "contracts" / "orders.yaml": _CONTRACT}
    if taken := [str(path) for path in files if path.exists()]:
        raise Conflict(f"{', '.join(taken)} exists already; nothing was written. Choose another folder")
    try:
        for path, text in files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            typer.echo(f"wrote {path}")
    except OSError as error:
        raise Unavailable(f"cannot write below {folder}: {error.strerror}") from None
    steps = [(command.format(folder=folder / "contracts"), what) for command, what in _NEXT_STEPS]
    width = max(len(command) for command, _ in steps)
    typer.echo("\nNext:")
    for command, what in steps:
        typer.echo(f"  {command.ljust(width)}   {what}")
