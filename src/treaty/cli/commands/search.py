"""`treaty search`: find contracts in a registry."""

from __future__ import annotations

from typing import Annotated

import typer

from treaty.cli.shared_options import PageRequest, RegistryCall, with_shared_options


@with_shared_options
def search(
    page: PageRequest,
    call: RegistryCall,
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="[WORDS]...", help="Words in names, fields, owners or texts.", show_default=False),
    ] = None,
    name: Annotated[str | None, typer.Option("--name", help="A part of an id or name.", show_default=False)] = None,
    field: Annotated[str | None, typer.Option("--field", help="The name of a field.", show_default=False)] = None,
    owner: Annotated[
        str | None, typer.Option("--owner", help="The team or contact of an owner.", show_default=False)
    ] = None,
    domain: Annotated[str | None, typer.Option("--domain", help="A domain.", show_default=False)] = None,
    tag: Annotated[str | None, typer.Option("--tag", help="A tag.", show_default=False)] = None,
) -> None:
    """Search for contracts.

    By words, or by name, field, owner, domain or tag; a contract must match all of them.
    """
    from treaty.cli.render.contracts import render_contracts

    with call.open() as registry:
        from treaty.registry.model.contract_answers import Query

        query = Query(text=" ".join(words or ()) or None, name=name, field=field, owner=owner, domain=domain, tag=tag)
        contracts = page.fetch(lambda cursor, limit: registry.search(query, cursor=cursor, limit=limit))
    call.print_page(contracts, render_contracts, "no matching contracts")
