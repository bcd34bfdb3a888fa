"""`treaty register`: register contracts in a registry."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from treaty.cli.exit_codes import ExitCode
from treaty.cli.options import FetchOption, ModeOption
from treaty.cli.shared_options import RegistryCall, with_shared_options

if TYPE_CHECKING:
    from treaty.cli.inputs import Source
    from treaty.settings import Settings


@with_shared_options
def register(
    call: RegistryCall,
    paths: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[PATH]...",
            help="Files with a contract, an artifact or subscriptions, folders, git:REF:path, or - for standard input.",
            show_default=False,
        ),
    ] = None,
    changed: Annotated[
        bool,
        typer.Option("--changed", help="Register the contracts that the last commit changed, or all since --base."),
    ] = False,
    base: Annotated[
        str | None,
        typer.Option("--base", metavar="REF", help="With --changed: the commit before the merge.", show_default=False),
    ] = None,
    fetch: FetchOption = False,
    mode: ModeOption = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would happen without registering anything.")
    ] = False,
) -> None:
    """Register contracts, and the consumers that files declare.

    Registers policies before the contracts that inherit from them, upstream contracts before downstream ones, lower
    versions before higher ones, and subscriptions last. A refused version is shown with the consumers that it would
    affect; exit code 3 means that at least one was refused.
    """
    from treaty.cli.registration import (
        REFUSED_STATUSES,
        DocumentStatus,
        check_all,
        check_subscriptions,
        order_by_dependency,
        read_documents,
        read_subscription_files,
        register_all,
        register_with_impact,
        subscribe_all,
    )
    from treaty.cli.registry_connection import IfMissing, describe_registry
    from treaty.cli.render.registration import print_outcomes
    from treaty.cli.subscription_outlook import needs_of
    from treaty.consumers.subscription_files import looks_like_subscriptions
    from treaty.errors import Unavailable

    if changed == bool(paths):
        raise typer.BadParameter("give contracts, or --changed for those of the last merge")
    if not changed and (base is not None or fetch):
        raise typer.BadParameter("--base and --fetch need --changed")
    settings = call.settings
    sources = _changed_sources(base, fetch, call) if changed else _find_sources(paths or [], settings)
    files = [source for source in sources if looks_like_subscriptions(source.content)]
    documents, outcomes = read_documents([source for source in sources if source not in files], settings.limits)
    subscriptions, unreadable = read_subscription_files(files, settings.limits)
    outcomes += unreadable
    with call.open(IfMissing.FAIL if dry_run else IfMissing.CREATE) as registry:
        try:
            act = check_all if dry_run else register_with_impact if changed else register_all
            for outcome in act(registry, order_by_dependency(documents), mode):
                outcomes.append(outcome)
            subscribed = (
                check_subscriptions(registry, subscriptions, needs_of(settings), documents)
                if dry_run
                else subscribe_all(registry, subscriptions)
            )
            for outcome in subscribed:
                outcomes.append(outcome)
        except Unavailable:
            if outcomes:
                print_outcomes(outcomes, call.output)
            raise
    print_outcomes(outcomes, call.output)
    if not call.is_json:
        typer.echo(f"registry: {describe_registry(call.registry, settings)}", err=True)
    statuses = {outcome.status for outcome in outcomes}
    if statuses & REFUSED_STATUSES:
        raise typer.Exit(ExitCode.FINDINGS)
    if DocumentStatus.NOT_ALLOWED in statuses:
        raise typer.Exit(ExitCode.FAILURE)


def _find_sources(paths: list[str], settings: Settings) -> list[Source]:
    from treaty.cli.inputs import expand_artifacts, find_sources
    from treaty.consumers.subscription_files import looks_like_subscriptions
    from treaty.contracts.loader import looks_like_contract_file

    def is_wanted(content: bytes) -> bool:
        return looks_like_contract_file(content) or looks_like_subscriptions(content)

    sources = list(expand_artifacts(find_sources(paths, settings.limits, is_wanted), settings.limits))
    if not sources:
        typer.echo(f"no contracts found in {', '.join(paths)}; create one with: treaty init", err=True)
        raise typer.Exit(ExitCode.FAILURE)
    return sources


def _changed_sources(base: str | None, fetch: bool, call: RegistryCall) -> list[Source]:
    from treaty.cli.git.base import Fetching
    from treaty.cli.git.branch import changed_since
    from treaty.cli.render.plain_text import printable

    merged = changed_since(base, Fetching.ALLOWED if fetch else Fetching.NEVER, call.settings)
    for path in merged.removed:
        typer.echo(
            f"{printable(path)} was removed; its versions stay registered until: treaty version retire", err=True
        )
    if not merged.sources:
        from treaty.cli.render.registration import print_outcomes

        if call.is_json:
            print_outcomes([], call.output)
        else:
            typer.echo(f"no contract changed since {printable(merged.base.name)}; nothing to register")
        raise typer.Exit(ExitCode.FINE)
    return list(merged.sources)
