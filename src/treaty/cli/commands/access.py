"""`treaty admin token|session|actor|namespace`: who may sign in, and which teams own which ids."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from treaty.cli.options import command_group
from treaty.cli.registry_connection import IfMissing
from treaty.cli.shared_options import PageRequest, RegistryCall, with_shared_options
from treaty.registry.access.actors import Role, Scope

if TYPE_CHECKING:
    pass


tokens = command_group("Create, list and revoke access tokens.")


sessions = command_group("List and end the sessions of browsers.")


actors = command_group("Erase the names of persons.")


namespaces = command_group("Give prefixes of contract ids to teams.")


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
    holder: Annotated[
        str | None,
        typer.Option(
            "--for",
            metavar="IDENTITY",
            help="The holder, if another identity of the same person exists: token:ID or ISSUER#SUBJECT.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Create an access token.

    The token is printed once, alone on standard output: treaty admin token create ci --role viewer > ci.token
    """
    from treaty.cli.render.output import print_data

    with call.open(IfMissing.CREATE) as registry:
        token = registry.access.create_token(
            name,
            role=role.value,
            team=team,
            scopes=[scope.value for scope in scopes or ()],
            days=days,
            holder=holder,
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


@sessions.command("list")
@with_shared_options
def list_sessions(page: PageRequest, call: RegistryCall) -> None:
    """List the sessions of browsers that have not ended."""
    from treaty.cli.render.admin import render_sessions

    with call.open() as registry:
        answer = page.fetch(lambda cursor, limit: registry.access.sessions(cursor=cursor, limit=limit))
    call.print_page(answer, render_sessions, "no sessions")


@sessions.command("end")
@with_shared_options
def end_session(
    session: Annotated[
        str, typer.Argument(metavar="ID", help="The id of the session; see `treaty admin session list`.")
    ],
    call: RegistryCall,
) -> None:
    """End a session: its user has to sign in again."""
    from treaty.cli.render.admin import render_ended_session

    with call.open() as registry:
        answer = registry.access.end_session(session)
    call.print_answer(answer, render_ended_session)


@actors.command("erase")
@with_shared_options
def erase_actor(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The name, as the audit log shows it.")],
    call: RegistryCall,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Count what would change, and change nothing.")] = False,
) -> None:
    """Erase the name of a person. It cannot be undone.

    Everywhere in the registry "erased user" and a random id take its place; the audit log stays verifiable.
    """
    from treaty.cli.render.admin import render_erasure

    with call.open() as registry:
        answer = registry.access.erase_actor(name, dry_run=dry_run)
    call.print_answer(answer, render_erasure)


PrefixArgument = Annotated[str, typer.Argument(metavar="PREFIX", help="A prefix of ids with its separator: pay.")]


@namespaces.command("list")
@with_shared_options
def list_namespaces(page: PageRequest, call: RegistryCall) -> None:
    """List namespaces and the teams that they belong to."""
    from treaty.cli.render.admin import render_namespaces

    with call.open() as registry:
        answer = page.fetch(lambda cursor, limit: registry.governance.namespaces(cursor=cursor, limit=limit))
    call.print_page(answer, render_namespaces, "no namespaces; assign one with: treaty admin namespace assign")


@namespaces.command("assign")
@with_shared_options
def assign_namespace(
    prefix: PrefixArgument,
    team: Annotated[str, typer.Argument(metavar="TEAM", help="The team that it belongs to from now on.")],
    call: RegistryCall,
) -> None:
    """Give a namespace to a team.

    Only members of the team and stewards can register new contracts in it. Contracts of other teams in it stay with
    their owners, and are listed.
    """
    from treaty.cli.render.admin import render_assigned_namespace

    with call.open(IfMissing.CREATE) as registry:
        answer = registry.governance.assign_namespace(prefix, team)
    call.print_answer(answer, render_assigned_namespace)


@namespaces.command("release")
@with_shared_options
def release_namespace(prefix: PrefixArgument, call: RegistryCall) -> None:
    """Take a namespace from its team."""
    from treaty.cli.render.admin import render_released_namespace

    with call.open() as registry:
        answer = registry.governance.release_namespace(prefix)
    call.print_answer(answer, render_released_namespace)
