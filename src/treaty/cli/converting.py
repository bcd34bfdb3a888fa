"""From one form of a contract to another: what `treaty convert` decides before it prints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from treaty.cli.drawing.visible import visible
from treaty.cli.foreign import chosen, foreign_format, read_foreign
from treaty.cli.inputs import load_all, read_chosen
from treaty.errors import InvalidDocument, Unavailable

if TYPE_CHECKING:
    from treaty.contracts import Contract
    from treaty.contracts.reading import Limits

_OWN = ("odcs", "short")


def taken_in(
    reference: str, limits: Limits, origin: str | None, dialect: str | None, *, whole: bool
) -> tuple[list[Contract], list[str]]:
    """Read the contract that is meant, or all of a file; and what of the file it does not say."""
    from treaty.formats import format_named

    source, wanted = read_chosen(reference, limits)
    form = format_named(origin) if origin else foreign_format(source)
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
        from treaty.formats import format_named

        return f".{self.notation}" if self.to in _OWN else format_named(self.to).suffix

    def of(self, contract: Contract) -> tuple[str, list[str]]:
        """Return the text of a contract, and what it does not say."""
        from treaty.contracts.writing import write_json, write_yaml
        from treaty.formats import format_named

        if self.to not in _OWN:
            written = format_named(self.to).write(contract, dialect=self.dialect)
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
    from treaty.compatibility.losses import losses
    from treaty.contracts import contract_from
    from treaty.contracts.short import write_short_form

    document = write_short_form(contract)
    if not document["fields"]:
        raise InvalidDocument(f"{contract.id} has no fields; the short form needs at least one")
    return document, [describe(change) for change in losses(contract, contract_from(document, "the short form"))]


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
