"""`treaty admin backup`, `restore` and `upgrade`: copies of the database of a registry, and its schema."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from treaty.cli.exit_codes import ExitCode
from treaty.cli.registry_connection import IfMissing, is_server_address, open_local_registry, requires_extra
from treaty.cli.shared_options import RegistryCall, with_shared_options

ForceOption = Annotated[bool, typer.Option("--force", help="Replace what is there.")]


@with_shared_options
def back_up(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The file to write.")],
    call: RegistryCall,
    force: ForceOption = False,
) -> None:
    """Back up a registry to a file, while it is in use.

    The file contains one consistent state. It also contains the secrets of channels: only its owner can read it.
    """
    from treaty.cli.render.output import print_data
    from treaty.errors import Conflict

    if file.exists() and not force:
        raise Conflict(f"{file} exists; choose another file, or replace it with --force")
    reference = database_of(call)
    with requires_extra("registry"):
        from treaty.registry.store.backup import back_up as write_backup

        with open_local_registry(reference, call.settings, IfMissing.FAIL) as registry:
            head = write_backup(registry.context.database, file)
    if call.is_json:
        print_data({"file": str(file), "entries": head.seq, "head": f"{head.seq}:{head.hash}"})
    else:
        typer.echo(f"backed up the registry with {head.seq:,} audit entries to {file}")
        typer.echo(f"head {head.seq}:{head.hash}")


@with_shared_options
def restore(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The backup to read.")],
    call: RegistryCall,
    force: ForceOption = False,
) -> None:
    """Restore a registry from a backup, and verify it by its audit log.

    Stop the server of the registry first. A registry that is not empty is replaced only with --force. Exit code 3 means
    that the restored registry is not as its audit log records it.
    """
    from treaty.cli.render.admin import render_audit_check

    reference = database_of(call)
    with requires_extra("registry"):
        from treaty.registry.store.backup import restore as read_backup

        read_backup(reference, file, overwrite=force)
        with open_local_registry(reference, call.settings, IfMissing.FAIL) as registry:
            answer = registry.access.verify_audit()
    call.print_answer(answer, render_audit_check)
    if not answer.whole:
        raise typer.Exit(ExitCode.FINDINGS)


@with_shared_options
def upgrade(
    call: RegistryCall,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be done, and change nothing.")] = False,
) -> None:
    """Upgrade the database of a registry to this version of Treaty, and verify its audit log.

    A dry run upgrades a copy of a SQLite file, or a PostgreSQL database in a transaction that is rolled back. Exit
    code 3 means that the registry is not as its audit log records it.
    """
    from treaty.cli.render.admin import render_upgrade
    from treaty.errors import NotFound

    reference = database_of(call)
    if "://" not in reference and not Path(reference).exists():
        raise NotFound(f"there is no registry at {reference}; choose another with --registry")
    with requires_extra("registry"):
        from treaty.registry.store.schema_upgrade import try_upgrade
        from treaty.registry.store.schema_upgrade import upgrade as upgrade_schema

        answer = try_upgrade(reference) if dry_run else upgrade_schema(reference)
    call.print_answer(answer, render_upgrade)
    if not answer.audit.whole:
        raise typer.Exit(ExitCode.FINDINGS)


def database_of(call: RegistryCall) -> str:
    """Return the database of a command that cannot work over HTTP."""
    reference = call.registry if call.registry is not None else call.settings.parts.registry
    if is_server_address(reference):
        raise typer.BadParameter(
            "this does not work over HTTP; give the database of the server, a file or postgresql://…",
            param_hint="--registry",
        )
    return reference
