"""`treaty admin channel|secrets`: where notices are delivered, and the keys that encrypt the secrets of channels."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from treaty.cli.options import command_group
from treaty.cli.registry_connection import IfMissing
from treaty.cli.shared_options import PageRequest, RegistryCall, with_shared_options

if TYPE_CHECKING:
    pass


channels = command_group("Choose where teams and consumers receive their notices.")


secrets = command_group("Manage the keys that encrypt the secrets of channels.")


class ChannelKind(StrEnum):
    """The ways in which a notice is delivered.

    A copy of `treaty.registry.notices.channels.ChannelKind`, so that the command starts without importing the registry;
    a test keeps the two equal.
    """

    WEBHOOK = "webhook"
    SLACK = "slack"
    EMAIL = "email"
    LOG = "log"


@channels.command("add")
@with_shared_options
def add_channel(
    party: Annotated[str, typer.Argument(metavar="PARTY", help="A team or consumer, or * for all.")],
    kind: Annotated[ChannelKind, typer.Argument(metavar="KIND", help="webhook, slack, email or log.")],
    target: Annotated[
        str,
        typer.Argument(
            metavar="TARGET", help="A URL, an email address or the name of a logger; - reads it from standard input."
        ),
    ],
    call: RegistryCall,
    secret_file: Annotated[
        Path | None,
        typer.Option("--secret-file", help="A file with the secret that signs webhooks.", show_default=False),
    ] = None,
) -> None:
    """Add a channel on which a team or consumer receives its notices."""
    from treaty.cli.inputs import STANDARD_INPUT
    from treaty.cli.registry_connection import read_secret_file, requires_extra
    from treaty.cli.render.admin import render_added_channel

    secret = read_secret_file(secret_file, "secret") if secret_file is not None else None
    with requires_extra("registry"):
        from treaty.registry.notices.channels import check_secret
    check_secret(secret)
    address = typer.get_text_stream("stdin").readline().strip() if target == STANDARD_INPUT else target
    with call.open(IfMissing.CREATE) as registry:
        answer = registry.notices.add_channel(party, kind=kind.value, target=address, secret=secret)
    call.print_answer(answer, render_added_channel)


@channels.command("list")
@with_shared_options
def list_channels(page: PageRequest, call: RegistryCall) -> None:
    """List the channels, without their secrets."""
    from treaty.cli.render.admin import render_channels

    with call.open() as registry:
        answer = page.fetch(lambda cursor, limit: registry.notices.channels(cursor=cursor, limit=limit))
    call.print_page(answer, render_channels, "no channels; add one with: treaty admin channel add")


@channels.command("rotate")
@with_shared_options
def rotate_channel(
    channel: Annotated[int, typer.Argument(metavar="ID", help="The number of the channel.")],
    call: RegistryCall,
    secret_file: Annotated[
        Path | None, typer.Option("--secret-file", help="A file with the new secret.", show_default=False)
    ] = None,
    days: Annotated[
        int, typer.Option("--days", min=1, max=90, help="Days for which the previous secret stays valid.")
    ] = 7,
    finish: Annotated[bool, typer.Option("--finish", help="End the previous secret now.")] = False,
) -> None:
    """Give a channel a new secret that signs its webhooks.

    Requests are signed with the new and the previous secret, until its time is over or --finish ends it.
    """
    from treaty.cli.registry_connection import read_secret_file
    from treaty.cli.render.admin import render_rotated_channel

    if finish is (secret_file is not None):
        raise typer.BadParameter("give either --secret-file or --finish", param_hint="--secret-file")
    secret = read_secret_file(secret_file, "secret") if secret_file is not None else None
    with call.open() as registry:
        if secret is None:
            answer = registry.notices.finish_rotation(channel)
        else:
            answer = registry.notices.rotate_secret(channel, secret=secret, days=days)
    call.print_answer(answer, render_rotated_channel)


@channels.command("remove")
@with_shared_options
def remove_channel(
    channel: Annotated[int, typer.Argument(metavar="ID", help="The number of the channel.")], call: RegistryCall
) -> None:
    """Remove a channel."""
    from treaty.cli.render.admin import render_removed_channel

    with call.open() as registry:
        answer = registry.notices.remove_channel(channel)
    call.print_answer(answer, render_removed_channel)


@secrets.command("key")
def print_new_key() -> None:
    """Print a new random key for TREATY_SECRET_KEY or notices.secret_key_file."""
    from treaty.cli.registry_connection import requires_extra

    with requires_extra("registry"):
        from treaty.registry.notices.secret_box import new_key

        typer.echo(new_key())


@secrets.command("rotate")
@with_shared_options
def rotate_keys(call: RegistryCall) -> None:
    """Encrypt the secrets of all channels again with the first key, so that the others can be removed.

    If the key is in a file beside a SQLite database, it is replaced by a new one.
    """
    from treaty.cli.commands.backup import database_of
    from treaty.cli.registry_connection import open_local_registry, requires_extra
    from treaty.cli.render.output import print_data
    from treaty.cli.render.plain_text import pluralize

    reference = database_of(call)
    with requires_extra("registry"), open_local_registry(reference, call.settings, IfMissing.FAIL) as registry:
        from treaty.registry.service.channel_secrets import rotate_keys as encrypt_again

        context = registry.context
        count = encrypt_again(context.database, context.secrets, context.actor)
    if call.is_json:
        print_data({"channels": count})
    else:
        typer.echo(f"the secrets of {pluralize(count, 'channel', 'channels')} are encrypted with the first key")
