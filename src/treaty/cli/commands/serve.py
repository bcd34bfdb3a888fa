"""`treaty serve`: the registry over HTTP."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from treaty.cli.exit_codes import ExitCode
from treaty.cli.options import AnswerFormat, AnswerFormatOption, ConfigOption

if TYPE_CHECKING:
    from treaty.registry.service import Registry
    from treaty.server.server import ServerOptions


def run(
    host: Annotated[
        str | None, typer.Option("--host", help="Where to listen: 127.0.0.1 by default.", show_default=False)
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(
            "--port", min=0, max=65535, help="Its port: 8090 by default; 0 for a free one.", show_default=False
        ),
    ] = None,
    database: Annotated[
        str | None,
        typer.Option(
            "--database",
            "--registry",
            metavar="URL|PATH",
            help="Where the registry is kept: .treaty/registry.db by default, or postgresql://…",
            show_default=False,
        ),
    ] = None,
    workers: Annotated[
        int, typer.Option("--workers", min=1, max=64, help="How many processes answer on the one port.")
    ] = 1,
    output: AnswerFormatOption = AnswerFormat.TEXT,
    config: ConfigOption = None,
) -> None:
    """Serve a registry over HTTP.

    It also delivers notices and advances what is due. Another machine is let in only once one must sign in.
    """
    from treaty.cli.registry_connection import Absent, is_address, needing, open_local
    from treaty.errors import NotAllowed, Refused
    from treaty.settings import load_settings

    settings = load_settings(config)
    reference = database if database is not None else settings.parts.registry
    if is_address(reference):
        raise typer.BadParameter(
            "a server's address is no database; name a file or postgresql://…", param_hint="--database"
        )
    with needing("server"):
        from treaty.server.server import ServerOptions, serve
        from treaty.server.workers import serve_with_workers

        serving = ServerOptions(
            host if host is not None else settings.parts.server.host,
            port if port is not None else settings.parts.server.port,
            settings.access(),
            settings.oidc(),
            settings.outlet(),
            settings.request_limits(),
            settings.publishing(),
            settings.catalog_name,
        )
        greet = _greet if output is AnswerFormat.TEXT else _tell_address
        signal.signal(signal.SIGTERM, _leave)
        try:
            if workers > 1:
                serve_with_workers(
                    lambda: open_local(reference, settings, Absent.MAKE),
                    serving,
                    lambda address, registry: greet(address, registry, serving),
                    workers,
                )
            else:
                with open_local(reference, settings, Absent.MAKE) as registry:
                    serve(registry, serving, lambda address: greet(address, registry, serving))
        except Refused as error:  # no judgement on a contract: it could not start
            raise NotAllowed(str(error)) from None
        except KeyboardInterrupt:
            typer.echo("stopped", err=True)


def _greet(address: str, registry: Registry, serving: ServerOptions) -> None:
    typer.echo(f"Treaty serves at {address}")
    typer.echo(f"  database   {_short(registry.context.database.name)}")
    typer.echo(f"  access     {_access(registry, serving)}")
    typer.echo(f"  pages      {address}/")
    typer.echo(f"  API        {address}/docs")
    if serving.publishing is not None:
        typer.echo(f"  publishes  {serving.publishing.folder}")
    typer.echo("  stop       Ctrl+C")


def _tell_address(address: str, _registry: Registry, _serving: ServerOptions) -> None:
    """Say where it listens in one line, which whoever started it waits for."""
    typer.echo(json.dumps({"address": address}))


def _access(registry: Registry, serving: ServerOptions) -> str:
    from treaty.server.authenticator import Authenticator

    if serving.oidc is None and not Authenticator(registry.context.database, serving.access).requires_sign_in():
        return "open to this machine, for want of a token; make one with: treaty token create"
    return "sign in to change anything" if serving.access.open_reading else "sign in, to read too"


def _short(name: str) -> str:
    """Return a SQLite database by its file, any other by its URL, which has no password in it."""
    prefix = "sqlite+pysqlite:///"
    return str(Path(name.removeprefix(prefix))) if name.startswith(prefix) else name


def _leave(*_: Any) -> NoReturn:
    raise SystemExit(ExitCode.FINE)
