"""`treaty serve`: serve a registry over HTTP."""

from __future__ import annotations

import gc
import json
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from treaty.cli.exit_codes import ExitCode
from treaty.cli.options import AnswerFormat, AnswerFormatOption, ConfigOption

if TYPE_CHECKING:
    from treaty.catalog.project_data import ProjectData
    from treaty.cli.served_data import OpenService
    from treaty.registry.service import Registry
    from treaty.server.server import ServerOptions


def serve(
    host: Annotated[
        str | None, typer.Option("--host", help="The address to listen on. Default: 127.0.0.1.", show_default=False)
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(
            "--port",
            min=0,
            max=65535,
            help="The port to listen on; 0 for a free one. Default: 8090.",
            show_default=False,
        ),
    ] = None,
    database: Annotated[
        str | None,
        typer.Option(
            "--database",
            "--registry",
            metavar="URL|PATH",
            help="The database of the registry: a file or postgresql://… Default: .treaty/registry.db.",
            show_default=False,
        ),
    ] = None,
    tls_cert: Annotated[
        Path | None,
        typer.Option(
            "--tls-cert",
            metavar="FILE",
            help="Serve https with this certificate, in PEM format with its chain.",
            show_default=False,
        ),
    ] = None,
    tls_key: Annotated[
        Path | None,
        typer.Option("--tls-key", metavar="FILE", help="The key of the certificate.", show_default=False),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(
            "--data",
            metavar="PROJECT",
            help="Serve the rows of the publications of the pipeline project in this folder, and show its exceptions "
            "and quarantined rows.",
            show_default=False,
        ),
    ] = None,
    data_port: Annotated[
        int | None,
        typer.Option(
            "--data-port",
            min=1,
            max=65535,
            help="With --data: serve rows on this port, and only there.",
            show_default=False,
        ),
    ] = None,
    workers: Annotated[int, typer.Option("--workers", min=1, max=64, help="The number of server processes.")] = 1,
    output: AnswerFormatOption = AnswerFormat.TEXT,
    config: ConfigOption = None,
) -> None:
    """Serve a registry over HTTP.

    The server also delivers notices and applies life cycle steps that are due. It refuses to listen on other addresses
    than this machine until a token exists.
    """
    from treaty.cli.registry_connection import IfMissing, is_server_address, open_local_registry, requires_extra
    from treaty.errors import NotAllowed, Refused
    from treaty.settings import load_settings

    if data_port is not None and data is None:
        raise typer.BadParameter("--data-port is for the rows of a project; add --data PROJECT")
    settings = load_settings(config)
    reference = database if database is not None else settings.parts.registry
    if is_server_address(reference):
        raise typer.BadParameter(
            "the address of a server is not a database; give a file or postgresql://…", param_hint="--database"
        )
    gc.disable()  # until the server runs: modules that are loaded do not become garbage
    with requires_extra("server"):
        from treaty.server.server import ServerOptions
        from treaty.server.server import serve as run_server
        from treaty.server.workers import serve_with_workers

        options = ServerOptions(
            host if host is not None else settings.parts.server.host,
            port if port is not None else settings.parts.server.port,
            settings.access(),
            settings.oidc(),
            settings.outlet(),
            settings.request_limits(),
            settings.publish_target(),
            settings.catalog_name,
            settings.parts.server.trusted_proxies,
            settings.tls(tls_cert, tls_key),
            settings.parts.server.hsts_seconds,
            settings.schema_registry(),
            _open_data(data, config),
            _open_served(data, config),
            data_port if data_port is not None else settings.parts.server.data_port,
        )
        announce = _print_addresses if output is AnswerFormat.TEXT else _print_json_address
        signal.signal(signal.SIGTERM, _exit)
        try:
            if workers > 1:
                serve_with_workers(
                    lambda: open_local_registry(reference, settings, IfMissing.CREATE),
                    options,
                    lambda address, registry: announce(address, registry, options),
                    workers,
                )
            else:
                with open_local_registry(reference, settings, IfMissing.CREATE) as registry:
                    run_server(registry, options, lambda address: announce(address, registry, options))
        except Refused as error:  # the server did not start: a failure, not a finding
            raise NotAllowed(str(error)) from None
        except KeyboardInterrupt:
            typer.echo("stopped", err=True)


def _open_data(folder: Path | None, config: Path | None) -> ProjectData | None:
    """Return the tables of a project. Without a project, nothing that reads tables is imported."""
    from treaty.cli.registry_connection import requires_extra

    if folder is None:
        return None
    with requires_extra("spark"):
        from treaty.cli.project_data import open_project_data

        return open_project_data(folder, config)


def _open_served(folder: Path | None, config: Path | None) -> OpenService | None:
    """Return how to open the publications that a project serves, if it serves some."""
    if folder is None:
        return None
    from treaty.cli.served_data import open_served_data

    return open_served_data(folder, config)


def _print_addresses(address: str, registry: Registry, options: ServerOptions) -> None:
    typer.echo(f"Treaty is running at {address}")
    typer.echo(f"  database   {_database_name(registry.context.database.name)}")
    typer.echo(f"  access     {_describe_access(registry, options)}")
    typer.echo(f"  pages      {address}/")
    typer.echo(f"  API        {address}/docs")
    if options.schema_registry.port is None:
        typer.echo(f"  schemas    {address}/schema-registry")
    else:
        typer.echo(f"  schemas    {address}/schema-registry, and at / on port {options.schema_registry.port}")
    if options.open_rows is not None:
        typer.echo(f"  rows       {_data_address(address, options)}/data")
    if options.publishing is not None:
        typer.echo(f"  publishes  {options.publishing.folder}")
    typer.echo("  stop       Ctrl+C")


def _data_address(address: str, options: ServerOptions) -> str:
    """Return the address at which rows are served."""
    return address if options.data_port is None else f"{address.rpartition(':')[0]}:{options.data_port}"


def _print_json_address(address: str, _registry: Registry, _options: ServerOptions) -> None:
    """Print the address as one line of JSON, for the process that started the server."""
    typer.echo(json.dumps({"address": address}))


def _describe_access(registry: Registry, options: ServerOptions) -> str:
    from treaty.server.authenticator import Authenticator

    if options.oidc is None and not Authenticator(registry.context.database, options.access).requires_sign_in():
        return "open to this machine because no token exists; create one with: treaty admin token create"
    return "sign in to make changes" if options.access.open_reading else "sign in to read and to make changes"


def _database_name(name: str) -> str:
    """Return the file of a SQLite database, or the URL of any other (it contains no password)."""
    prefix = "sqlite+pysqlite:///"
    return str(Path(name.removeprefix(prefix))) if name.startswith(prefix) else name


def _exit(*_: Any) -> NoReturn:
    raise SystemExit(ExitCode.FINE)
