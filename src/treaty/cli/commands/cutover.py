"""`treaty cutover`: move the consumers of a legacy feed to the publication that replaces it, one after the other."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from treaty.cli.options import (
    AnswerFormat,
    AnswerFormatOption,
    ConfigOption,
    ReasonOption,
    TokenFileOption,
    command_group,
)
from treaty.cli.shared_options import PageRequest, RegistryCall, with_shared_options

app = command_group("Move the consumers of legacy feeds to the publications that replace them.")

FeedArgument = Annotated[str, typer.Argument(metavar="FEED", help="The name of the legacy feed.")]
ConsumerArgument = Annotated[str, typer.Argument(metavar="CONSUMER", help="A consumer of the feed.")]
NoteOption = Annotated[str | None, typer.Option("--note", help="A remark for the record.", show_default=False)]


@app.command("declare")
def declare(
    folder: Annotated[Path, typer.Option("--project", metavar="FOLDER", help="The folder of the project.")] = Path(),
    output: AnswerFormatOption = AnswerFormat.TEXT,
    token_file: TokenFileOption = None,
    config: ConfigOption = None,
) -> None:
    """Store the legacy feeds of a project in the registry: names, consumers, publication and gate.

    `treaty parallel run` does the same for its feed.
    """
    from treaty.cli.parallel_run import declare_feeds
    from treaty.cli.render.cutovers import render_feeds
    from treaty.cli.render.output import print_list

    feeds = declare_feeds(folder, token_file, config)
    if not feeds:
        typer.echo("no legacy feed with a publication; see: docs/legacy.md", err=True)
    print_list(feeds, output, render_feeds)


@app.command("status")
@with_shared_options
def status(
    page: PageRequest,
    call: RegistryCall,
    feed: Annotated[str | None, typer.Argument(metavar="[FEED]", help="Show this feed.", show_default=False)] = None,
) -> None:
    """List legacy feeds, or show the consumers of one: how far each is, and what it waits for."""
    from treaty.cli.render.cutovers import render_feed, render_feeds

    with call.open() as registry:
        if feed is not None:
            call.print_answer(registry.cutovers.get(feed), render_feed)
            return
        feeds = page.fetch(lambda cursor, limit: registry.cutovers.list(cursor=cursor, limit=limit))
    call.print_page(feeds, render_feeds, "no legacy feeds; declare them with: treaty cutover declare")


@app.command("acknowledge")
@with_shared_options
def acknowledge(feed: FeedArgument, consumer: ConsumerArgument, call: RegistryCall, note: NoteOption = None) -> None:
    """Acknowledge the cut-over on behalf of a consumer."""
    from treaty.cli.render.cutovers import render_cutover

    with call.open() as registry:
        answer = registry.cutovers.acknowledge(feed, consumer, note=note)
    call.print_answer(answer, render_cutover)


@app.command("approve")
@with_shared_options
def approve(feed: FeedArgument, consumer: ConsumerArgument, call: RegistryCall, note: NoteOption = None) -> None:
    """Approve the cut-over as an owner of the consumer's team. Critical consumers need it."""
    from treaty.cli.render.cutovers import render_cutover

    with call.open() as registry:
        answer = registry.cutovers.approve(feed, consumer, note=note)
    call.print_answer(answer, render_cutover)


@app.command("move")
@with_shared_options
def move(feed: FeedArgument, consumer: ConsumerArgument, call: RegistryCall) -> None:
    """Move a consumer from the feed to the publication.

    It is refused with the reasons, and exit code 3, as long as the gate is closed.
    """
    from treaty.cli.render.cutovers import render_cutover

    with call.open() as registry:
        answer = registry.cutovers.cut_over(feed, consumer)
    call.print_answer(answer, render_cutover)


@app.command("rollback")
@with_shared_options
def rollback(feed: FeedArgument, consumer: ConsumerArgument, reason: ReasonOption, call: RegistryCall) -> None:
    """Move a consumer back to the feed. Earlier runs and acknowledgements no longer count."""
    from treaty.cli.render.cutovers import render_cutover

    with call.open() as registry:
        answer = registry.cutovers.roll_back(feed, consumer, reason=reason)
    call.print_answer(answer, render_cutover)


@app.command("retire")
@with_shared_options
def retire(feed: FeedArgument, call: RegistryCall) -> None:
    """Retire a feed that its last consumer has left. Reads of it are incidents from then on."""
    from treaty.cli.render.cutovers import render_feed

    with call.open() as registry:
        answer = registry.cutovers.retire(feed)
    call.print_answer(answer, render_feed)
