"""`treaty token`: who may sign in to a registry's server."""

from __future__ import annotations

from typing import Annotated

import typer

from treaty.cli.options import (
    AllOption,
    AnswerFormat,
    AnswerFormatOption,
    ConfigOption,
    CursorOption,
    LimitOption,
    RegistryOption,
    TokenFileOption,
    command_group,
)
from treaty.cli.paging import PAGE, fetch, wanted
from treaty.registry.access.actors import Role, Scope

app = command_group("Give out tokens, list them, take them back.")


@app.command("create")
def create(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Whom or what it is for.")],
    role: Annotated[Role, typer.Option("--role", help="What they are to the registry.")],
    team: Annotated[
        str | None, typer.Option("--team", help="The team of a contributor or owner.", show_default=False)
    ] = None,
    scopes: Annotated[
        list[Scope] | None, typer.Option("--scope", help="Only for this; once for each.", show_default=False)
    ] = None,
    days: Annotated[
        int | None, typer.Option("--days", min=1, help="How long it is good for: 90 by default.", show_default=False)
    ] = None,
    registry: RegistryOption = None,
    token_file: TokenFileOption = None,
    output: AnswerFormatOption = AnswerFormat.TEXT,
    config: ConfigOption = None,
) -> None:
    """Give out a token.

    It is printed this once, alone on standard output: treaty token create ci --role viewer > ci.token
    """
    from treaty.cli.registry_connection import Absent, opened
    from treaty.cli.render.output import print_data
    from treaty.settings import load_settings

    with opened(registry, token_file, load_settings(config), Absent.MAKE) as it:
        made = it.access.create_token(
            name, role=role.value, team=team, scopes=[one.value for one in scopes or ()], days=days
        )
    if output is AnswerFormat.JSON:
        print_data(made.model_dump(mode="json"))
        return
    typer.echo(made.token)
    held = f"{made.role}:{made.team}" if made.team else made.role
    typer.echo(f"{made.name} is {held} until {made.expires_at:%Y-%m-%d}; the token is shown this once.", err=True)
    typer.echo("Sign in with TREATY_TOKEN or --token-file.", err=True)


@app.command("list")
def list_tokens(
    limit: LimitOption = PAGE,
    cursor: CursorOption = None,
    everything: AllOption = False,
    registry: RegistryOption = None,
    token_file: TokenFileOption = None,
    output: AnswerFormatOption = AnswerFormat.TEXT,
    config: ConfigOption = None,
) -> None:
    """List tokens, without their secrets."""
    from treaty.cli.registry_connection import opened
    from treaty.cli.render.admin import draw_tokens
    from treaty.cli.render.output import print_page
    from treaty.settings import load_settings

    part = wanted(limit, cursor, everything)
    with opened(registry, token_file, load_settings(config)) as it:
        page = fetch(lambda at, most: it.access.tokens(cursor=at, limit=most), part)
    print_page(page, output, draw_tokens, "no token; make one with: treaty token create")


@app.command("revoke")
def revoke(
    identity: Annotated[str, typer.Argument(metavar="ID", help="The id of the token; see: treaty token list.")],
    registry: RegistryOption = None,
    token_file: TokenFileOption = None,
    output: AnswerFormatOption = AnswerFormat.TEXT,
    config: ConfigOption = None,
) -> None:
    """Take a token back."""
    from treaty.cli.registry_connection import opened
    from treaty.cli.render.admin import draw_revoked
    from treaty.cli.render.output import print_answer
    from treaty.settings import load_settings

    with opened(registry, token_file, load_settings(config)) as it:
        answer = it.access.revoke_token(identity)
    print_answer(answer, output, draw_revoked)
