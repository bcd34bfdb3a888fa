"""`treaty proposal`: breaking changes that need an approval."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from treaty.cli.options import OptionalReasonOption, OwnOverrideOption, command_group
from treaty.cli.shared_options import PageRequest, RegistryCall, with_shared_options

app = command_group("Approve or decline breaking changes.")

ProposalArgument = Annotated[
    int, typer.Argument(metavar="ID", help="The number of the proposal; see `treaty proposal list`.")
]


class ProposalState(StrEnum):
    """The states of a proposal.

    A copy of the registry's states, so that the command starts without importing the registry; a test keeps the two
    equal.
    """

    OPEN = "open"
    APPROVED = "approved"
    DECLINED = "declined"


@app.command("list")
@with_shared_options
def list_proposals(
    page: PageRequest,
    call: RegistryCall,
    state: Annotated[
        ProposalState | None, typer.Option("--state", help="Only proposals in this state.", show_default=False)
    ] = None,
) -> None:
    """List proposals, pending and decided."""
    from treaty.cli.render.governance import render_proposals

    with call.open() as registry:
        proposals = page.fetch(
            lambda cursor, limit: registry.governance.proposals(state=state, cursor=cursor, limit=limit)
        )
    call.print_page(proposals, render_proposals, "no proposals")


@app.command("approve")
@with_shared_options
def approve(
    proposal: ProposalArgument,
    call: RegistryCall,
    reason: OptionalReasonOption = None,
    override: OwnOverrideOption = None,
) -> None:
    """Approve a breaking change and register its version."""
    from treaty.cli.render.governance import render_proposal

    with call.open() as registry:
        answer = registry.governance.approve(proposal, reason=override or reason, override=override is not None)
    call.print_answer(answer, render_proposal)


@app.command("decline")
@with_shared_options
def decline(proposal: ProposalArgument, call: RegistryCall, reason: OptionalReasonOption = None) -> None:
    """Decline a breaking change, or withdraw your own."""
    from treaty.cli.render.governance import render_proposal

    with call.open() as registry:
        answer = registry.governance.decline(proposal, reason=reason)
    call.print_answer(answer, render_proposal)
