"""`treaty drift`: where events changed their meaning under an unchanged contract, and what owners answer."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Annotated

import typer

from treaty.cli.options import command_group, parse_date
from treaty.cli.shared_options import PageRequest, RegistryCall, with_shared_options

if TYPE_CHECKING:
    from treaty.registry.api import RegistryApi
    from treaty.registry.model import DriftFindingAnswer

app = command_group("Findings about events whose meaning changed under an unchanged contract.")

LineArgument = Annotated[str, typer.Argument(metavar="CONTRACT@MAJOR", help="The line of the contract.")]
FindingArgument = Annotated[str, typer.Argument(metavar="FINDING", help="The id of the finding; see the list.")]


@app.command("list")
@with_shared_options
def list_findings(
    page: PageRequest,
    call: RegistryCall,
    contract: Annotated[
        str | None, typer.Option("--contract", metavar="ID", help="Only of this contract.", show_default=False)
    ] = None,
) -> None:
    """List findings, by contract and line."""
    from treaty.cli.render.drift import render_findings

    with call.open() as registry:
        findings = page.fetch(
            lambda cursor, limit: registry.drift.findings(contract=contract, cursor=cursor, limit=limit)
        )
    call.print_page(findings, render_findings, "no drift of meaning was found")


@app.command("show")
@with_shared_options
def show(line: LineArgument, finding: FindingArgument, call: RegistryCall) -> None:
    """Show a finding with its evidence."""
    from treaty.cli.render.drift import render_finding

    with call.open() as registry:
        answer = registry.drift.get(line, finding)
    call.print_answer(answer, render_finding)


@app.command("answer")
@with_shared_options
def answer_finding(
    line: LineArgument,
    finding: FindingArgument,
    call: RegistryCall,
    owner: Annotated[str, typer.Option("--owner", metavar="TEAM", help="Who is responsible for the answer.")],
    explained_until: Annotated[
        str | None,
        typer.Option(
            "--explained-until",
            metavar="DATE",
            help="The contract means what it meant; the explanation holds until this day.",
            show_default=False,
        ),
    ] = None,
    reason: Annotated[
        str | None, typer.Option("--reason", metavar="TEXT", help="The explanation.", show_default=False)
    ] = None,
    new_meaning: Annotated[
        str | None,
        typer.Option(
            "--new-meaning",
            metavar="TEXT",
            help="The meaning changed to this: a draft of the next MAJOR version declares it.",
            show_default=False,
        ),
    ] = None,
    guide: Annotated[
        str | None,
        typer.Option(
            "--guide",
            metavar="URL",
            help="With --new-meaning: where consumers read how to move. The draft gets a migration plan of 90 days.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Answer a finding: explain it until a day, or open a draft of a version with the new meaning."""
    from treaty.cli.render.drift import render_finding

    until = parse_date(explained_until, "--explained-until")
    with call.open() as registry:
        call.print_answer(_answer(registry, line, finding, owner, until, reason, new_meaning, guide), render_finding)


def _answer(
    registry: RegistryApi,
    line: str,
    finding: str,
    owner: str,
    until: date | None,
    reason: str | None,
    new_meaning: str | None,
    guide: str | None,
) -> DriftFindingAnswer:
    if new_meaning is not None and until is None and reason is None:
        return registry.drift.open_version(line, finding, owner=owner, meaning=new_meaning, guide=guide)
    if until is not None and reason is not None and new_meaning is None and guide is None:
        return registry.drift.explain(line, finding, owner=owner, reason=reason, until=until)
    raise typer.BadParameter("give --explained-until with --reason, or --new-meaning, which may have --guide")
