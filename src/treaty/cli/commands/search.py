"""`treaty search`: find contracts."""

from __future__ import annotations

from typing import Annotated

import typer

from treaty.cli.options import (
    AllOption,
    AnswerFormat,
    AnswerFormatOption,
    ConfigOption,
    CursorOption,
    LimitOption,
    RegistryOption,
    TokenFileOption,
)
from treaty.cli.paging import PAGE, fetch, wanted


def run(
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="[WORDS]...", help="Words anywhere: names, fields, meanings.", show_default=False),
    ] = None,
    name: Annotated[str | None, typer.Option("--name", help="Part of an id or name.", show_default=False)] = None,
    field: Annotated[str | None, typer.Option("--field", help="The name of a field.", show_default=False)] = None,
    owner: Annotated[
        str | None, typer.Option("--owner", help="The team or contact of an owner.", show_default=False)
    ] = None,
    domain: Annotated[str | None, typer.Option("--domain", help="The domain.", show_default=False)] = None,
    tag: Annotated[str | None, typer.Option("--tag", help="A tag.", show_default=False)] = None,
    limit: LimitOption = PAGE,
    cursor: CursorOption = None,
    everything: AllOption = False,
    registry: RegistryOption = None,
    token_file: TokenFileOption = None,
    output: AnswerFormatOption = AnswerFormat.TEXT,
    config: ConfigOption = None,
) -> None:
    """Find contracts.

    By words anywhere, or by name, field, owner, domain or tag; every part that is given must fit.
    """
    from treaty.cli.registry_connection import opened
    from treaty.cli.render.contracts import draw_contracts
    from treaty.cli.render.output import print_page
    from treaty.settings import load_settings

    part = wanted(limit, cursor, everything)
    with opened(registry, token_file, load_settings(config)) as it:
        from treaty.registry.model.contract_answers import Query

        text = " ".join(words or ()) or None
        asked = Query(text=text, name=name, field=field, owner=owner, domain=domain, tag=tag)
        page = fetch(lambda at, most: it.search(asked, cursor=at, limit=most), part)
    print_page(page, output, draw_contracts, "no contract fits")
