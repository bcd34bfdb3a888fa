"""`treaty incident`: broken promises, from the first to the last time that they were seen."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from treaty.cli.options import ReasonOption, command_group
from treaty.cli.shared_options import PageRequest, RegistryCall, with_shared_options

app = command_group("Show and acknowledge incidents.")
IncidentArgument = Annotated[
    int, typer.Argument(metavar="ID", help="The number of the incident; see `treaty incident list`.")
]


class IncidentState(StrEnum):
    """Whether a promise is still broken."""

    OPEN = "open"
    CLOSED = "closed"


@app.command("list")
@with_shared_options
def list_incidents(
    page: PageRequest,
    call: RegistryCall,
    contract: Annotated[
        str | None, typer.Option("--contract", help="Only of this contract or line.", show_default=False)
    ] = None,
    state: Annotated[
        IncidentState | None, typer.Option("--state", help="Only open or only closed ones.", show_default=False)
    ] = None,
    team: Annotated[
        str | None, typer.Option("--team", help="Only of contracts that this team owns.", show_default=False)
    ] = None,
) -> None:
    """List incidents, the newest first."""
    from treaty.cli.render.incidents import render_incidents

    with call.open() as registry:
        incidents = page.fetch(
            lambda cursor, limit: registry.incidents.list(
                contract=contract, state=state, team=team, cursor=cursor, limit=limit
            )
        )
    call.print_page(incidents, render_incidents, "no incidents")


@app.command("show")
@with_shared_options
def show(incident: IncidentArgument, call: RegistryCall) -> None:
    """Show an incident: cause, evidence, blocked lines and the consumers that it hits."""
    from treaty.cli.render.incidents import render_incident

    with call.open() as registry:
        answer = registry.incidents.get(incident)
    call.print_answer(answer, render_incident)


@app.command("acknowledge")
@with_shared_options
def acknowledge(incident: IncidentArgument, reason: ReasonOption, call: RegistryCall) -> None:
    """Acknowledge an open incident, so that it is not escalated; it closes by itself."""
    from treaty.cli.render.incidents import render_incident

    with call.open() as registry:
        answer = registry.incidents.acknowledge(incident, reason=reason)
    call.print_answer(answer, render_incident)
