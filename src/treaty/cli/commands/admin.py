"""`treaty admin`: tokens, the audit log, notification channels, due dates and backups of a registry."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from treaty.cli.commands import backup
from treaty.cli.exit_codes import ExitCode
from treaty.cli.options import command_group
from treaty.cli.registry_connection import IfMissing
from treaty.cli.shared_options import PageRequest, RegistryCall, with_shared_options
from treaty.registry.access.actors import Role, Scope

app = command_group("Manage tokens, audit log, notices, due dates and backups.")
tokens = command_group("Create, list and revoke access tokens.")
audit = command_group("Read and verify the audit log.")
channels = command_group("Choose where teams and consumers receive their notices.")
app.add_typer(tokens, name="token")
app.add_typer(audit, name="audit")
app.add_typer(channels, name="channel")
app.command("backup")(backup.back_up)
app.command("restore")(backup.restore)


class ChannelKind(StrEnum):
    """The ways in which a notice is delivered.

    A copy of `treaty.registry.notices.channels.ChannelKind`, so that the command starts without importing the registry;
    a test keeps the two equal.
    """

    WEBHOOK = "webhook"
    SLACK = "slack"
    EMAIL = "email"
    LOG = "log"


@tokens.command("create")
@with_shared_options
def create_token(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The person or system that the token is for.")],
    role: Annotated[Role, typer.Option("--role", help="The role of its holder.")],
    call: RegistryCall,
    team: Annotated[
        str | None, typer.Option("--team", help="The team of a contributor or owner.", show_default=False)
    ] = None,
    scopes: Annotated[
        list[Scope] | None, typer.Option("--scope", help="Restrict the token. Repeatable.", show_default=False)
    ] = None,
    days: Annotated[
        int | None, typer.Option("--days", min=1, help="Days until it expires. Default: 90.", show_default=False)
    ] = None,
) -> None:
    """Create an access token.

    The token is printed once, alone on standard output: treaty admin token create ci --role viewer > ci.token
    """
    from treaty.cli.render.output import print_data

    with call.open(IfMissing.CREATE) as registry:
        token = registry.access.create_token(
            name, role=role.value, team=team, scopes=[scope.value for scope in scopes or ()], days=days
        )
    if call.is_json:
        print_data(token.model_dump(mode="json"))
        return
    typer.echo(token.token)
    grant = f"{token.role}:{token.team}" if token.team else token.role
    typer.echo(f"{token.name} is {grant} until {token.expires_at:%Y-%m-%d}; the token is not shown again.", err=True)
    typer.echo("Sign in with TREATY_TOKEN or --token-file.", err=True)


@tokens.command("list")
@with_shared_options
def list_tokens(page: PageRequest, call: RegistryCall) -> None:
    """List tokens, without their secrets."""
    from treaty.cli.render.admin import render_tokens

    with call.open() as registry:
        answer = page.fetch(lambda cursor, limit: registry.access.tokens(cursor=cursor, limit=limit))
    call.print_page(answer, render_tokens, "no tokens; create one with: treaty admin token create")


@tokens.command("revoke")
@with_shared_options
def revoke_token(
    token: Annotated[str, typer.Argument(metavar="ID", help="The id of the token; see `treaty admin token list`.")],
    call: RegistryCall,
) -> None:
    """Revoke a token."""
    from treaty.cli.render.admin import render_revoked_token

    with call.open() as registry:
        answer = registry.access.revoke_token(token)
    call.print_answer(answer, render_revoked_token)


@audit.command("list")
@with_shared_options
def list_audit_entries(
    page: PageRequest,
    call: RegistryCall,
    subject: Annotated[
        str | None,
        typer.Option("--subject", help="Only entries whose subject starts with this.", show_default=False),
    ] = None,
    actor: Annotated[
        str | None, typer.Option("--actor", help="Only entries of this actor.", show_default=False)
    ] = None,
) -> None:
    """List the entries of the audit log, oldest first."""
    from treaty.cli.render.admin import render_audit_entries

    with call.open() as registry:
        entries = page.fetch(
            lambda cursor, limit: registry.access.audit(subject=subject, actor=actor, cursor=cursor, limit=limit)
        )
    call.print_page(entries, render_audit_entries, "no entries")


@audit.command("verify")
@with_shared_options
def verify_audit_log(
    call: RegistryCall,
    head: Annotated[
        str | None,
        typer.Option("--head", help="A head that you saved earlier; it must still be in the log.", show_default=False),
    ] = None,
) -> None:
    """Verify that the audit log is complete and unchanged, and that the registry is as the log records it.

    Exit code 3 means that an entry was changed, removed or cut off, or that a row was changed, added or deleted without
    the registry.
    """
    from treaty.cli.render.admin import render_audit_check

    with call.open() as registry:
        answer = registry.access.verify_audit(head=head)
    call.print_answer(answer, render_audit_check)
    if not answer.whole:
        raise typer.Exit(ExitCode.FINDINGS)


@audit.command("checkpoint")
@with_shared_options
def write_checkpoint(call: RegistryCall) -> None:
    """Sign the newest entry of the audit log, and send it to where audit.checkpoint_file and checkpoint_url say.

    The server of a registry does this every minute.
    """
    from treaty.cli.commands.backup import database_of
    from treaty.cli.registry_connection import open_local_registry, requires_extra
    from treaty.cli.render.output import print_data

    reference = database_of(call)
    with requires_extra("registry"), open_local_registry(reference, call.settings, IfMissing.FAIL) as registry:
        from treaty.registry.service.checkpoints import publish_checkpoint

        checkpoint = publish_checkpoint(registry.context)
    if call.is_json:
        print_data(checkpoint.model_dump() if checkpoint else {})
    else:
        typer.echo(f"signed entry {checkpoint.seq}" if checkpoint else "the audit log is empty")


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


@app.command("notices")
@with_shared_options
def list_notices(
    page: PageRequest,
    call: RegistryCall,
    contract: Annotated[
        str | None, typer.Option("--contract", help="Only notices about this contract.", show_default=False)
    ] = None,
    party: Annotated[
        str | None, typer.Option("--party", help="Only notices to this team or consumer.", show_default=False)
    ] = None,
) -> None:
    """List notices and the state of their delivery."""
    from treaty.cli.render.admin import render_notices

    with call.open() as registry:
        notices = page.fetch(
            lambda cursor, limit: registry.notices.notices(contract=contract, party=party, cursor=cursor, limit=limit)
        )
    call.print_page(notices, render_notices, "no notices")


@app.command("redeliver")
@with_shared_options
def redeliver(
    call: RegistryCall,
    channel: Annotated[
        int | None, typer.Option("--channel", metavar="ID", help="Only on this channel.", show_default=False)
    ] = None,
) -> None:
    """Queue failed deliveries again; the server of the registry sends them."""
    from treaty.cli.render.output import print_data
    from treaty.cli.render.plain_text import pluralize

    with call.open() as registry:
        queued = registry.notices.retry(channel=channel)
    if call.is_json:
        print_data({"deliveries": queued})
    else:
        typer.echo(f"{pluralize(queued, 'delivery', 'deliveries')} queued again" if queued else "no failed deliveries")


@app.command("tick")
@with_shared_options
def tick(call: RegistryCall) -> None:
    """Apply every life cycle step that is due, and remind consumers of ends that are near.

    The server of a registry does this by itself.
    """
    from treaty.cli.render.contracts import render_lifecycle_steps

    with call.open() as registry:
        steps = registry.tick()
    call.print_list(steps, render_lifecycle_steps)
    if not steps and not call.is_json:
        typer.echo("nothing is due")
