"""The files of a new project: settings, a contract, a source, a product, a publication and sample data."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

SETTINGS = """\
# The settings of this project; each has a default, and docs/settings.md lists them all.
name: {name}

# The compatibility mode for changes; a contract may pin a stricter one.
compatibility: backward

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
status: active
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
      - name: country
        logicalType: string
        required: true
        logicalTypeOptions: {pattern: "^[A-Z]{2}$"}
        description: Where the order is delivered, as an ISO 3166 code of two letters.
      - name: gross_total
        logicalType: number
        physicalType: decimal(12,2)
        logicalTypeOptions: {minimum: 0}
        required: true
        unit: EUR
        description: What the customer pays, tax included, after all discounts.

slaProperties:
  - {property: freshness, value: 30, unit: min}
change_policy:
  compatibility: backward
  notice: 30 d
"""

_SOURCE = """\
# Each file that arrives here is read once. Rows that violate the contract are quarantined with the reason.
contract: {line}
files: {files}
"""

_OPTIONS = "options: {{separator: {separator}}}\n"

_PRODUCT = """\
# One row per key: the latest that arrived. Add `sql: sql/NAME.sql` to compute something else.
contract: {line}
from: [{source}]
"""

_PUBLICATION = """\
# What consumers read: the table publications.{table}. It changes only after every check has passed.
contract: {line}
from: [{product}]
"""

_README = """\
# {name}

Data under contract, in five commands:

{commands}

Change a file below `contracts/` and compare: `treaty diff git:HEAD:contracts/{contract}.yaml contracts/{contract}.yaml`
shows what the change breaks and which version it needs.

The tables are below `.treaty/lake`; set `spark.iceberg` in `treaty.yaml` for a shared catalog.
"""

_SAMPLE_ROWS = 50
_BAD_ROWS = {
    11: ",2026-01-05T10:15:00Z,DE,18.40",  # no key
    24: "o-1024,yesterday,FR,52.00",  # not a time
    37: "o-1037,2026-01-13T08:45:00Z,NL,-12.50",  # below the minimum
}
_COUNTRIES = ("DE", "FR", "NL", "IT", "PL")


@dataclass(frozen=True)
class DataFile:
    """The data that a new project starts from, with the contract drafted for it."""

    source: str
    """The name of the source and of the contract file."""
    contract: str
    """The text of the contract."""
    line: str
    files: str
    """The path of the data, as in the declaration of a source."""
    separator: str | None = None
    has_key: bool = True


def sample_project(folder: Path, name: str) -> dict[Path, str]:
    """Return the files of a project with sample data, three rows of which violate the contract."""
    data = DataFile("orders", _CONTRACT, "orders@1", "landing/orders-*.csv")
    return {**project_files(folder, name, data), folder / "landing" / "orders-2026-01.csv": sample_csv()}


def project_files(folder: Path, name: str, data: DataFile) -> dict[Path, str]:
    """Return the files of a project that publishes one kind of data."""
    options = _OPTIONS.format(separator=_quoted(data.separator)) if data.separator else ""
    product = f"current_{data.source}"
    table = data.line.rpartition(".")[2].replace("@", "_v")
    return {
        folder / "treaty.yaml": SETTINGS.format(name=name),
        folder / "contracts" / f"{data.source}.yaml": data.contract,
        folder / "sources" / f"{data.source}.yaml": _SOURCE.format(line=data.line, files=data.files) + options,
        folder / "products" / f"{product}.yaml": _PRODUCT.format(line=data.line, source=data.source),
        folder / "publications" / f"published_{data.source}.yaml": _PUBLICATION.format(
            line=data.line, product=product, table=table
        ),
        folder / "README.md": _README.format(name=name.strip('"'), commands=_list_commands(data), contract=data.source),
        folder / ".gitignore": ".treaty/\n",
    }


def _list_commands(data: DataFile) -> str:
    commands = {
        "treaty lint contracts": "check whether the contract is understandable",
        "treaty plan": "see what a run would do",
        "treaty run": "read the data, check it, publish it",
        f"treaty read {data.line}": "see what consumers read",
        f"treaty quarantine show {data.source}": "see the rows that violate the contract, and why",
    }
    width = max(map(len, commands))
    return "\n".join(f"    {command:<{width}}   {purpose}" for command, purpose in commands.items())


def sample_csv() -> str:
    """Return fifty orders as CSV."""
    first = datetime(2026, 1, 2, 9, 30)
    rows = ["order_id,placed_at,country,gross_total"]
    for number in range(_SAMPLE_ROWS):
        placed = first + timedelta(hours=7 * number)
        total = f"{12 + 37 * number % 90}.{number * 13 % 100:02}"
        row = f"o-{1000 + number},{placed:%Y-%m-%dT%H:%M:%SZ},{_COUNTRIES[number % len(_COUNTRIES)]},{total}"
        rows.append(_BAD_ROWS.get(number, row))
    return "\n".join(rows) + "\n"


def _quoted(separator: str) -> str:
    return '"\\t"' if separator == "\t" else f'"{separator}"'
