"""`treaty can-i-publish`, `can-i-retire` and `can-i-cut-over`: a yes or no with every reason."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from treaty.cli.exit_codes import ExitCode
from treaty.cli.options import LineArgument, ModeOption, NowOption, PathArgument, parse_time
from treaty.cli.shared_options import RegistryCall, with_shared_options

if TYPE_CHECKING:
    from treaty.registry.model import DecisionAnswer


@with_shared_options
def can_i_publish(path: PathArgument, call: RegistryCall, mode: ModeOption = None) -> None:
    """Check whether a new version may be published.

    Considers versions, consumers, policies and dates, and lists every reason. Exit code 3 means no.
    """
    from treaty.cli.inputs import invalid_as_refused, load_submission

    document = load_submission(path, call.settings.limits)
    with call.open() as registry, invalid_as_refused():
        decision = registry.consumers.can_i_publish(document.source.content, compatibility=mode)
    _print_decision(decision, call)


@with_shared_options
def can_i_retire(
    line: LineArgument,
    call: RegistryCall,
    version: Annotated[
        str | None, typer.Option("--version", help="Only this version of the line.", show_default=False)
    ] = None,
    now: NowOption = None,
) -> None:
    """Check whether a line may be retired.

    Lists every reason with its date or consumer. Exit code 3 means no.
    """
    time = parse_time(now)
    with call.open() as registry:
        shown = registry if time is None else registry.at(time)
        decision = shown.consumers.can_i_retire(line, version=version)
    _print_decision(decision, call)


@with_shared_options
def can_i_cut_over(
    consumer: Annotated[str, typer.Argument(metavar="CONSUMER", help="A consumer of a legacy feed.")],
    call: RegistryCall,
    feed: Annotated[str | None, typer.Option("--feed", help="Only from this legacy feed.", show_default=False)] = None,
) -> None:
    """Check whether a consumer may leave the legacy feeds that it reads.

    Lists what is missing: clean parallel runs, acknowledgements, a subscription. Exit code 3 means no.
    """
    with call.open() as registry:
        decision = registry.cutovers.can_i_cut_over(consumer, feed=feed)
    _print_decision(decision, call)


def _print_decision(decision: DecisionAnswer, call: RegistryCall) -> None:
    from treaty.cli.render.consumers import render_decision

    call.print_answer(decision, render_decision)
    if not decision.answer:
        raise typer.Exit(ExitCode.FINDINGS)
