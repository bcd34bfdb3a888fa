"""`treaty spark`: a Spark server that commands share."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Annotated

import typer

from treaty.cli.options import ConfigOption, FolderArgument

DEFAULT_PORT = 15002


def spark(
    folder: FolderArgument = Path(),
    port: Annotated[
        int, typer.Option("--port", min=1, max=65535, help="The port to listen on, for this machine only.")
    ] = DEFAULT_PORT,
    config: ConfigOption = None,
) -> None:
    """Run a Spark server that other commands share.

    Commands that use it with --remote, or with the setting `spark.master`, do not have to start Spark themselves.
    """
    from treaty.cli.registry_connection import requires_extra
    from treaty.errors import NotFound
    from treaty.settings import load_settings

    if not folder.is_dir():
        raise NotFound(f"there is no folder {folder}; give the folder of a project, or omit it for this folder")
    options = load_settings(config, start=folder).spark()
    with requires_extra("connect"):
        from treaty.spark.session import serve_spark

    stop_signals = {signal.SIGINT, signal.SIGTERM}
    signal.pthread_sigmask(
        signal.SIG_BLOCK, stop_signals
    )  # new threads inherit the mask, so only sigwait receives them
    with serve_spark(options, port) as address:
        typer.echo(f"Spark runs at {address}")
        typer.echo(f"  use        treaty run --remote {address}, or TREATY_SPARK_MASTER={address}")
        typer.echo(f"  tables     {options.catalog.uri if options.catalog else 'none; set spark.iceberg'}")
        typer.echo("  stop       Ctrl+C")
        signal.sigwait(stop_signals)
    typer.echo("stopped", err=True)
