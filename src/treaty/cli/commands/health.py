"""`treaty health`: the one state of each contract, with its cause."""

from __future__ import annotations

from typing import Annotated

import typer

from treaty.cli.exit_codes import ExitCode
from treaty.cli.options import NowOption, parse_time
from treaty.cli.shared_options import PageRequest, RegistryCall, with_shared_options

_UNWELL = ("failing", "blocked")


@with_shared_options
def health(
    page: PageRequest,
    call: RegistryCall,
    contract: Annotated[
        str | None,
        typer.Argument(
            metavar="[CONTRACT]", help="A contract or line. Default: all that were measured.", show_default=False
        ),
    ] = None,
    now: NowOption = None,
) -> None:
    """Show the health of contracts, the worst first, or of one with its incidents and service levels.

    Exit code 3 means that a shown contract is failing or blocked.
    """
    from treaty.cli.render.incidents import render_contract_health, render_healths

    time = parse_time(now)
    with call.open() as registry:
        shown = registry if time is None else registry.at(time)
        if contract is not None:
            answer = shown.incidents.health(contract)
            call.print_answer(answer, render_contract_health)
            states = [answer.state]
        else:
            healths = page.fetch(lambda cursor, limit: shown.incidents.overview(cursor=cursor, limit=limit))
            call.print_page(healths, render_healths, "nothing was measured")
            states = [one.state for one in healths.items]
    if any(state in _UNWELL for state in states):
        raise typer.Exit(ExitCode.FINDINGS)
