"""`treaty init`: create a project with a first contract."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

_PROJECT = """\
# The settings of this project; each has a default.
name: {name}

# The compatibility mode for changes; a contract may pin a stricter one.
compatibility: backward

# Change the grade of a change kind or the severity of a lint rule; `treaty explain` lists both.
grading: {{}}
lint:
  rules: {{}}

# Findings that are accepted for a while, each with an owner, a reason and an end date:
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
        description: Identifies an order permanently; assigned once by checkout and never reused.
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
    ("treaty lint {folder}", "check whether the contract is understandable"),
    ("treaty diff OLD NEW", "see what a change breaks and which version it requires"),
    ("treaty explain", "list the kinds of change and the lint rules"),
    ("treaty register {folder}", "register the contract; then: treaty consumer subscribe, treaty consumer impact"),
)


def init(
    folder: Annotated[Path, typer.Argument(help="The folder of the project.")] = Path(),
) -> None:
    """Create a project.

    Writes a project file and a first contract; existing files are not overwritten.
    """
    from treaty.contracts.text.writer import write_json
    from treaty.errors import Conflict, Unavailable
    from treaty.settings import PROJECT_FILE

    if folder.is_file():
        raise Conflict(f"{folder} is a file; give a folder")
    name = folder.resolve().name or "project"
    quoted = write_json(name).strip()
    files = {folder / PROJECT_FILE: _PROJECT.format(name=quoted), folder / "contracts" / "orders.yaml": _CONTRACT}
    if taken := [str(path) for path in files if path.exists()]:
        raise Conflict(f"{', '.join(taken)} already exists; nothing was written. Choose another folder")
    try:
        for path, text in files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            typer.echo(f"wrote {path}")
    except OSError as error:
        raise Unavailable(f"cannot write below {folder}: {error.strerror}") from None
    steps = [(command.format(folder=folder / "contracts"), purpose) for command, purpose in _NEXT_STEPS]
    width = max(len(command) for command, _ in steps)
    typer.echo("\nNext:")
    for command, purpose in steps:
        typer.echo(f"  {command.ljust(width)}   {purpose}")
