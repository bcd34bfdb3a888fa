"""`treaty convert`: from one form of a contract to another, naming what is lost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from treaty.cli.inputs import chosen, foreign_format, load_all, read_chosen, read_foreign
from treaty.cli.options import ConfigOption
from treaty.cli.render.printable import visible
from treaty.errors import InvalidDocument, Unavailable

if TYPE_CHECKING:
    from treaty.contracts import Contract
    from treaty.contracts.text import Limits


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


_OWN = ("odcs", "short")


def taken_in(
    reference: str, limits: Limits, origin: str | None, dialect: str | None, *, whole: bool
) -> tuple[list[Contract], list[str]]:
    """Read the contract that is meant, or all of a file; and what of the file it does not say."""
    from treaty.formats import get_format

    source, wanted = read_chosen(reference, limits)
    form = get_format(origin) if origin else foreign_format(source)
    if dialect is not None and (form is None or not form.reads_dialects):
        raise InvalidDocument(f"{source.name} is read in no dialect; --from-dialect is for SQL")
    if form is None:
        return [one.contract for one in load_all(source, limits)], []
    contracts, losses = read_foreign(source, form, limits, dialect)
    taken = list(contracts) if whole and wanted is None else [chosen(contracts, wanted, source.name)]
    return taken, [f"{source.name}: {loss}" for loss in losses]


@dataclass(frozen=True)
class Conversion:
    """What to write: a form of contract or a foreign format, in which dialect, with which blocks and notation."""

    to: str
    dialect: str | None
    blocks: str
    notation: str

    @property
    def suffix(self) -> str:
        """The ending of a file that is written."""
        from treaty.formats import get_format

        return f".{self.notation}" if self.to in _OWN else get_format(self.to).suffix

    def of(self, contract: Contract) -> tuple[str, list[str]]:
        """Return the text of a contract, and what it does not say."""
        from treaty.contracts.text.writer import write_json, write_yaml
        from treaty.formats import get_format

        if self.to not in _OWN:
            written = get_format(self.to).write(contract, dialect=self.dialect)
            return written.text, [str(loss) for loss in written.losses]
        if self.dialect is not None:
            raise InvalidDocument(f"a contract has no dialects; --dialect {self.dialect} is for foreign formats")
        document, lost = _odcs(contract, self.blocks) if self.to == "odcs" else _short(contract)
        return write_yaml(document) if self.notation == "yaml" else write_json(document), lost


def _odcs(contract: Contract, blocks: str) -> tuple[dict[str, object], list[str]]:
    from treaty.contracts.odcs import BlockStyle, with_plain_blocks, write_odcs

    style = BlockStyle(blocks)
    return write_odcs(with_plain_blocks(contract) if style is BlockStyle.PLAIN else contract, style), []


def _short(contract: Contract) -> tuple[dict[str, object], list[str]]:
    from treaty.compatibility import describe
    from treaty.compatibility.diff import conversion_losses
    from treaty.contracts import contract_from
    from treaty.contracts.short_form import write_short_form

    document = write_short_form(contract)
    if not document["fields"]:
        raise InvalidDocument(f"{contract.id} has no fields; the short form needs at least one")
    return document, [
        describe(change) for change in conversion_losses(contract, contract_from(document, "the short form"))
    ]


def save(path: Path, text: str) -> None:
    """Write a file, and say so."""
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise Unavailable(f"cannot write {path}: {error.strerror}") from None
    typer.echo(f"wrote {path}", err=True)


def print_losses(losses: Sequence[str]) -> None:
    """Name on standard error what did not come across."""
    for loss in losses:
        typer.echo(f"lost: {visible(loss)}", err=True)
