"""`treaty show`: one version of a contract, and what stands around it."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from treaty.cli.options import (
    AnswerFormat,
    AnswerFormatOption,
    ConfigOption,
    RegistryOption,
    TokenFileOption,
)

if TYPE_CHECKING:
    from treaty.cli.registration import AnyRegistry
    from treaty.registry.model import DocumentAnswer


class Written(StrEnum):
    """A form to print the document in."""

    ODCS = "odcs"
    SHORT = "short"
    GIVEN = "given"


def run(
    contract: Annotated[
        str, typer.Argument(metavar="CONTRACT[@MAJOR]", help="A contract, or a line of it such as orders@1.")
    ],
    version: Annotated[
        str | None,
        typer.Argument(metavar="[VERSION]", help="One version; else the highest active one.", show_default=False),
    ] = None,
    written: Annotated[
        Written | None,
        typer.Option("--as", help="Print the document instead: in a form, or as it was given.", show_default=False),
    ] = None,
    registry: RegistryOption = None,
    token_file: TokenFileOption = None,
    output: AnswerFormatOption = AnswerFormat.TEXT,
    config: ConfigOption = None,
) -> None:
    """Show one version of a contract.

    Its status, owners, lines, consumers, dates and fields; or its document with --as.
    """
    from treaty.cli.registry_connection import opened
    from treaty.settings import load_settings

    with opened(registry, token_file, load_settings(config)) as it:
        found = _find(it, contract, version)
        if written is not None:
            _print_document(it, found, written, output)
            return
        from treaty.cli.render.console import screen
        from treaty.cli.render.contracts import Shown, draw_shown
        from treaty.cli.render.output import print_data

        page = it.consumers.subscriptions(contract=found.contract)
        shown = Shown(found, it.lines(found.contract), page.items)
    if output is AnswerFormat.JSON:
        print_data(shown.as_data())
        return
    with screen() as drawn:
        draw_shown(drawn, shown)
    if page.next is not None:
        typer.echo(f"there are more consumers; list them with: treaty subscriptions --contract {found.contract}")


def _find(it: AnyRegistry, name: str, version: str | None) -> DocumentAnswer:
    """Find the version that is named, else the highest active one, else the highest."""
    from treaty.contracts.versions import parse_line
    from treaty.errors import InvalidDocument, NotFound

    try:
        line = parse_line(name)
    except InvalidDocument:
        line = None
    contract = line.contract if line else name
    if version is not None:
        return it.get(contract, version)
    lines = [one for one in it.lines(contract) if line is None or one.line == str(line)]
    if not lines:
        there = ", ".join(one.line for one in it.lines(contract))
        raise NotFound(f"no line {name} is registered; there are: {there}")
    active = next((one.latest_active for one in lines if one.latest_active), None)
    return it.get(contract, active or lines[0].latest)


def _print_document(it: AnyRegistry, found: DocumentAnswer, written: Written, output: AnswerFormat) -> None:
    from treaty.contracts import contract_from
    from treaty.contracts.odcs import BlockStyle, write_odcs
    from treaty.contracts.short_form import write_short_form
    from treaty.contracts.text.writer import write_json, write_yaml
    from treaty.errors import InvalidDocument

    if written is Written.GIVEN:
        typer.echo(it.given(found.contract, found.version)[0], nl=False)
        return
    contract = contract_from(found.document, "the registry")
    if written is Written.SHORT and not (contract.schema and contract.schema[0].fields):
        raise InvalidDocument(f"{contract.id} has no fields, and so no short form; ask for --as odcs")
    document = write_odcs(contract, BlockStyle.CUSTOM) if written is Written.ODCS else write_short_form(contract)
    typer.echo(write_json(document) if output is AnswerFormat.JSON else write_yaml(document), nl=False)
