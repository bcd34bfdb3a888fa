"""Foreign schemas where a contract is expected: told by name and content, read by their format."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import typer

from treaty.cli.drawing.visible import visible
from treaty.contracts.findings import Place
from treaty.contracts.loading import LoadedContract
from treaty.contracts.reading.limits import refuse
from treaty.contracts.recognising import meant_as_contract
from treaty.errors import InvalidDocument, NotFound

if TYPE_CHECKING:
    from treaty.cli.inputs import Source
    from treaty.contracts import Contract
    from treaty.contracts.reading import Limits
    from treaty.formats import Format, Loss

_BY_NAME = {".py": "pydantic", ".sql": "sql", ".ddl": "sql"}
"""Files that can be nothing else where somebody names one: their format says best what is wrong with them."""
CHOICE = "#"
"""Between a file and the contract that is meant in it: schema.sql#sales.orders."""


def foreign_format(source: Source) -> Format | None:
    """Tell which foreign format a document is in, if any."""
    if meant_as_contract(source.content):
        return None
    from treaty.formats import format_named, recognised

    for suffix, name in _BY_NAME.items():
        if source.name.lower().endswith(suffix):
            return format_named(name)
    return recognised(source.name, source.content.decode("utf-8", "replace"))


def read_foreign(
    source: Source, form: Format, limits: Limits, dialect: str | None = None
) -> tuple[tuple[Contract, ...], tuple[Loss, ...]]:
    """Read the contracts of a foreign document, and what they do not say of it."""
    if len(source.content) > limits.bytes:
        message = f"the document has more than {limits.bytes:,} bytes"
        raise refuse(message, Place(source.name), "split it, or raise limits.bytes")
    try:
        text = source.content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        message = f"not UTF-8 text at byte {error.start}"
        raise refuse(message, Place(source.name), "save the file as UTF-8") from None
    read = form.read(text, name=source.name, dialect=dialect)
    return read.contracts, read.losses


def loaded(source: Source, form: Format, limits: Limits) -> list[LoadedContract]:
    """Return the contracts of a foreign document as loaded ones; what is lost is told on standard error."""
    contracts, losses = read_foreign(source, form, limits)
    tell(source.name, losses)
    return [LoadedContract(one, lambda pointer: Place(source.name)) for one in contracts]


def chosen(contracts: Sequence[Contract], wanted: str | None, source: str) -> Contract:
    """Return the contract that is meant: by its id, or the only one."""
    found = [one for one in contracts if wanted is None or one.id == wanted]
    if len(found) == 1:
        return found[0]
    known = ", ".join(one.id for one in contracts)
    if wanted is not None:
        raise NotFound(f"{source} has no contract {wanted!r}; it has: {known}")
    hint = f"say which one is meant, for example {source}{CHOICE}{contracts[0].id}"
    raise InvalidDocument(f"{source} has {len(contracts)} contracts: {known}; {hint}")


def tell(source: str, losses: Sequence[Loss]) -> None:
    """Name on standard error what of a file its contract does not say."""
    for loss in losses:
        typer.echo(f"lost: {visible(f'{source}: {loss}')}", err=True)
