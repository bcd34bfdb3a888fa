"""`treaty convert`: from one form of a contract to another, naming what is lost."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from treaty.cli.drawing.visible import visible
from treaty.cli.options import ConfigOption

if TYPE_CHECKING:
    from treaty.contracts import Contract


class Target(StrEnum):
    """A form to convert to."""

    ODCS = "odcs"
    SHORT = "short"


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
        str, typer.Argument(metavar="PATH", help="A contract file, git:REF:path, or - for standard input.")
    ],
    to: Annotated[Target, typer.Option("--to", help="The form to write.")],
    blocks: Annotated[
        Blocks,
        typer.Option("--blocks", help="In ODCS: Treaty's blocks as custom properties (strict) or as plain keys."),
    ] = Blocks.CUSTOM,
    notation: Annotated[Notation, typer.Option("--notation", help="YAML or JSON.")] = Notation.YAML,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write to this file.", show_default=False)
    ] = None,
    config: ConfigOption = None,
) -> None:
    """Write a contract in another form.

    What the form cannot carry is named on standard error.
    """
    from treaty.cli.inputs import load_source
    from treaty.contracts.writing import write_json, write_yaml
    from treaty.settings import load_settings

    contract = load_source(path, load_settings(config).limits).contract
    document, losses = _convert(contract, to, blocks)
    text = write_yaml(document) if notation is Notation.YAML else write_json(document)
    if output is None:
        typer.echo(text, nl=False)
    else:
        _save(output, text)
        typer.echo(f"wrote {output}", err=True)
    for loss in losses:
        typer.echo(f"lost: {visible(loss)}", err=True)


def _convert(contract: Contract, to: Target, blocks: Blocks) -> tuple[dict[str, Any], tuple[str, ...]]:
    from treaty.compatibility import describe
    from treaty.compatibility.losses import losses
    from treaty.contracts import contract_from
    from treaty.contracts.odcs import BlockStyle, with_plain_blocks, write_odcs
    from treaty.contracts.short import write_short_form
    from treaty.errors import InvalidDocument

    if to is Target.ODCS:
        plain = blocks is Blocks.PLAIN
        return write_odcs(with_plain_blocks(contract) if plain else contract, BlockStyle(blocks.value)), ()
    document = write_short_form(contract)
    if not document["fields"]:
        raise InvalidDocument(f"{contract.id} has no fields; the short form needs at least one")
    lost = losses(contract, contract_from(document, "the short form"))
    return document, tuple(map(describe, lost))


def _save(path: Path, text: str) -> None:
    from treaty.errors import Unavailable

    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise Unavailable(f"cannot write {path}: {error.strerror}") from None
