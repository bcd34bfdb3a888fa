"""`treaty waiver`: findings that are accepted for a reason until a date."""

from __future__ import annotations

from typing import Annotated

import typer

from treaty.cli.options import ReasonOption, command_group, parse_date
from treaty.cli.shared_options import PageRequest, RegistryCall, with_shared_options

app = command_group("Accept findings for a limited time.")


@app.command("add")
@with_shared_options
def add(
    rule: Annotated[str, typer.Argument(metavar="RULE", help="The kind of change or lint rule to waive.")],
    owner: Annotated[str, typer.Option("--owner", help="Who is responsible for the waiver.")],
    reason: ReasonOption,
    until: Annotated[str, typer.Option("--until", metavar="DATE", help="The last day on which the waiver applies.")],
    call: RegistryCall,
    contract: Annotated[str, typer.Option("--contract", help="The contracts it applies to; * is a wildcard.")] = "*",
    path: Annotated[str, typer.Option("--path", help="The fields it applies to; * is a wildcard.")] = "*",
) -> None:
    """Waive a finding for a reason until a date."""
    from treaty.cli.render.governance import render_waiver

    last_day = parse_date(until, "--until") or until
    with call.open() as registry:
        waiver = registry.governance.waive(
            rule, owner=owner, reason=reason, until=last_day, contract=contract, path=path
        )
    call.print_answer(waiver, render_waiver)


@app.command("end")
@with_shared_options
def end(
    waiver: Annotated[int, typer.Argument(metavar="ID", help="The number of the waiver; see `treaty waiver list`.")],
    call: RegistryCall,
) -> None:
    """End a waiver before its date."""
    from treaty.cli.render.governance import render_waiver

    with call.open() as registry:
        answer = registry.governance.revoke_waiver(waiver)
    call.print_answer(answer, render_waiver)


@app.command("list")
@with_shared_options
def list_waivers(page: PageRequest, call: RegistryCall) -> None:
    """List waivers, current and past."""
    from treaty.cli.render.governance import render_waivers

    with call.open() as registry:
        waivers = page.fetch(lambda cursor, limit: registry.governance.waivers(cursor=cursor, limit=limit))
    call.print_page(waivers, render_waivers, "no waivers")
