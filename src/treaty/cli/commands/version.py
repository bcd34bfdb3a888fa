"""`treaty version`: the versions of a contract and their life cycle."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from treaty.cli.options import ContractArgument, OverrideOption, VersionArgument, command_group, parse_date
from treaty.cli.shared_options import PageRequest, RegistryCall, with_shared_options

app = command_group("List versions and change their status.")

SubjectArgument = Annotated[
    str, typer.Argument(metavar="CONTRACT|LINE", help="A contract with a version, or a line such as orders@1.")
]
OptionalVersionArgument = Annotated[
    str | None,
    typer.Argument(metavar="[VERSION]", help="A version of the contract; omit it for a line.", show_default=False),
]


@app.command("history")
@with_shared_options
def history(contract: ContractArgument, page: PageRequest, call: RegistryCall) -> None:
    """List the versions of a contract.

    In the order of their registration.
    """
    from treaty.cli.render.contracts import render_history

    with call.open() as registry:
        versions = page.fetch(lambda cursor, limit: registry.history(contract, cursor=cursor, limit=limit))
    call.print_page(versions, render_history, f"{contract} has no version")


@app.command("activate")
@with_shared_options
def activate(contract: ContractArgument, version: VersionArgument, call: RegistryCall) -> None:
    """Activate a draft, or withdraw a deprecation."""
    from treaty.cli.render.contracts import render_version

    with call.open() as registry:
        answer = registry.activate(contract, version)
    call.print_answer(answer, render_version)


@app.command("deprecate")
@with_shared_options
def deprecate(
    subject: SubjectArgument,
    call: RegistryCall,
    version: OptionalVersionArgument = None,
    guide: Annotated[
        str | None,
        typer.Option(
            "--migration-guide", "--plan", metavar="URI", help="The address of the migration plan.", show_default=False
        ),
    ] = None,
    replacement: Annotated[
        str | None,
        typer.Option("--replacement", metavar="NAME", help="What consumers migrate to.", show_default=False),
    ] = None,
    reason: Annotated[str | None, typer.Option("--reason", help="Why it ends.", show_default=False)] = None,
    announced: Annotated[
        str | None,
        typer.Option(
            "--announced", metavar="DATE", help="The day it becomes deprecated. Default: today.", show_default=False
        ),
    ] = None,
    sunset: Annotated[
        str | None,
        typer.Option(
            "--sunset",
            "--sunset-date",
            metavar="DATE",
            help="The last day of support. Default: after the minimum deprecation period.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Announce the end of a version or a line.

    Its consumers are notified of the sunset date and of where to go: the migration guide, the replacement, or both.
    """
    from treaty.cli.render.contracts import render_versions

    if guide is None and replacement is None:
        raise typer.BadParameter("say where consumers go: --migration-guide URI, --replacement NAME, or both")
    notice: dict[str, Any] = {
        "deprecation_uri": guide,
        "sunset_on": parse_date(sunset, "--sunset"),
        "announced_on": parse_date(announced, "--announced"),
        "replacement": replacement,
        "reason": reason,
    }
    with call.open() as registry:
        versions = (
            [registry.deprecate(subject, version, **notice)]
            if version is not None
            else registry.deprecate_line(subject, **notice)
        )
    call.print_list(versions, render_versions)


@app.command("retire")
@with_shared_options
def retire(
    subject: SubjectArgument,
    call: RegistryCall,
    version: OptionalVersionArgument = None,
    override: OverrideOption = None,
) -> None:
    """Retire a version or a line.

    Refused before its date and while it has consumers; `treaty can-i-retire` shows what would block it.
    """
    from treaty.cli.render.contracts import render_versions

    with call.open() as registry:
        versions = (
            [registry.retire(subject, version, override=override)]
            if version is not None
            else registry.retire_line(subject, override=override)
        )
    call.print_list(versions, render_versions)


@app.command("archive")
@with_shared_options
def archive(
    contract: ContractArgument, version: VersionArgument, call: RegistryCall, override: OverrideOption = None
) -> None:
    """Archive a version permanently; its history is kept."""
    from treaty.cli.render.contracts import render_version

    with call.open() as registry:
        answer = registry.archive(contract, version, override=override)
    call.print_answer(answer, render_version)
