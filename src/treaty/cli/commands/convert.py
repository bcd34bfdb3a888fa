"""`treaty convert`: from one form of a contract to another, naming what is lost."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from treaty.cli.options import ConfigOption


class Foreign(StrEnum):
    """A foreign format, as `treaty.formats.FORMATS` lists them."""

    AVRO = "avro"
    JSON_SCHEMA = "json-schema"
    PROTOBUF = "protobuf"
    SQL = "sql"
    DBT = "dbt"
    SPARK = "spark"
    PYDANTIC = "pydantic"


class Target(StrEnum):
    """A form to convert to."""

    ODCS = "odcs"
    SHORT = "short"
    AVRO = "avro"
    JSON_SCHEMA = "json-schema"
    PROTOBUF = "protobuf"
    SQL = "sql"
    DBT = "dbt"
    SPARK = "spark"
    PYDANTIC = "pydantic"


class Blocks(StrEnum):
    """How Treaty's own blocks are written in ODCS."""

    CUSTOM = "custom"
    PLAIN = "plain"


class Notation(StrEnum):
    """The notation of a document."""

    YAML = "yaml"
    JSON = "json"


def run(
    path: Annotated[
        str,
        typer.Argument(
            metavar="PATH",
            help="A contract or foreign schema: a file, file#id, git:REF:path, or - for standard input.",
        ),
    ],
    to: Annotated[Target, typer.Option("--to", help="The form to write.")],
    origin: Annotated[
        Foreign | None,
        typer.Option("--from", help="Read PATH as this, whatever its name.", show_default=False),
    ] = None,
    dialect: Annotated[
        str | None,
        typer.Option(
            "--dialect",
            metavar="NAME",
            help="What to write in: a warehouse for SQL and dbt, a draft for JSON Schema, a syntax for Protobuf.",
            show_default=False,
        ),
    ] = None,
    from_dialect: Annotated[
        str | None,
        typer.Option("--from-dialect", metavar="NAME", help="The dialect of SQL to read.", show_default=False),
    ] = None,
    blocks: Annotated[
        Blocks,
        typer.Option("--blocks", help="In ODCS: Treaty's blocks as custom properties (strict) or as plain keys."),
    ] = Blocks.CUSTOM,
    notation: Annotated[Notation, typer.Option("--notation", help="YAML or JSON, of a contract.")] = Notation.YAML,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="Write to this file; to a folder, all contracts of PATH.", show_default=False
        ),
    ] = None,
    config: ConfigOption = None,
) -> None:
    """Write a contract in another form.

    Reads and writes contracts and foreign schemas. What does not come across is named on standard error.
    """
    from treaty.cli.converting import Conversion, print_losses, save, taken_in
    from treaty.settings import load_settings

    limits = load_settings(config).limits
    contracts, lost = taken_in(path, limits, origin.value if origin else None, from_dialect, whole=_is_folder(output))
    conversion = Conversion(to.value, dialect, blocks.value, notation.value)
    for contract in contracts:
        text, losses = conversion.of(contract)
        if output is None:
            typer.echo(text, nl=False)
        else:
            save(output / f"{contract.id}{conversion.suffix}" if _is_folder(output) else output, text)
        lost += losses
    print_losses(lost)


def _is_folder(output: Path | None) -> bool:
    return output is not None and output.is_dir()
