"""`treaty admin`: tokens, the audit log, channels, namespaces, due dates and backups of a registry."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from treaty.cli.commands import backup
from treaty.cli.commands.access import actors, namespaces, sessions, tokens
from treaty.cli.commands.channels import channels, secrets
from treaty.cli.exit_codes import ExitCode
from treaty.cli.options import NowOption, command_group, parse_time
from treaty.cli.registry_connection import IfMissing
from treaty.cli.shared_options import PageRequest, RegistryCall, with_shared_options

if TYPE_CHECKING:
    from treaty.registry.client import RegistryClient
    from treaty.registry.service import Registry

app = command_group("Manage tokens, audit log, notices, namespaces, due dates and backups.")
audit = command_group("Read and verify the audit log.")
app.add_typer(tokens, name="token")
app.add_typer(sessions, name="session")
app.add_typer(actors, name="actor")
app.add_typer(audit, name="audit")
app.add_typer(channels, name="channel")
app.add_typer(namespaces, name="namespace")
app.add_typer(secrets, name="secrets")
app.command("backup")(backup.back_up)
app.command("restore")(backup.restore)
app.command("upgrade")(backup.upgrade)


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
def tick(
    call: RegistryCall,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what is due, and change nothing.")] = False,
    now: NowOption = None,
) -> None:
    """Send the notices that are due: of deprecations, sunsets and expiries by date, and reminders of migrations.

    It also deletes notices and measures that are not kept any longer; see `treaty admin retention`. The server
    of a registry does this by itself. The status of a version follows from its dates, without a tick.
    """
    from treaty.cli.render.contracts import render_lifecycle_steps

    time = parse_time(now)
    if time is not None and not dry_run:
        raise typer.BadParameter("--now shows another time, so it needs --dry-run")
    with call.open() as registry:
        shown = registry if time is None else registry.at(time)
        steps = shown.due() if dry_run else registry.tick()
        deleted = _delete_expired(shown, dry_run=dry_run)
    call.print_list(steps, render_lifecycle_steps)
    if not call.is_json:
        if deleted:
            typer.echo(deleted)
        if not steps and not deleted:
            typer.echo("nothing is due")


def _delete_expired(registry: Registry | RegistryClient, *, dry_run: bool) -> str | None:
    """Delete what the retention does not keep, or count it, and return a sentence; a server does that by itself."""
    from treaty.cli.render.admin import describe_retention
    from treaty.registry.service import Registry
    from treaty.registry.service.retention import count_expired, delete_expired

    if not isinstance(registry, Registry):
        return None
    return describe_retention(count_expired(registry.context) if dry_run else delete_expired(registry.context))


@app.command("retention")
@with_shared_options
def apply_retention(
    call: RegistryCall,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only count what would be deleted.")] = False,
) -> None:
    """Delete delivered notices and measures that are older than retention.notices_days and measures_days.

    The server of a registry does this once a day. The audit log and the versions of contracts are never deleted.
    """
    from treaty.cli.commands.backup import database_of
    from treaty.cli.registry_connection import open_local_registry, requires_extra
    from treaty.cli.render.admin import describe_retention
    from treaty.cli.render.output import print_data

    reference = database_of(call)
    with requires_extra("registry"), open_local_registry(reference, call.settings, IfMissing.FAIL) as registry:
        from treaty.registry.service.retention import count_expired, delete_expired

        answer = count_expired(registry.context) if dry_run else delete_expired(registry.context)
    if call.is_json:
        print_data(answer.model_dump())
    else:
        typer.echo(describe_retention(answer) or "nothing has expired")
