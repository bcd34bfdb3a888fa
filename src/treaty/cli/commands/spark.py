"""`treaty spark`: one Spark that commands share."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Annotated

import typer

from treaty.cli.options import ConfigOption, FolderArgument

_PORT = 15002


def run(
    folder: FolderArgument = Path(),
    port: Annotated[int, typer.Option("--port", min=1, max=65535, help="The port, on this machine only.")] = _PORT,
    config: ConfigOption = None,
) -> None:
    """Keep a Spark running that commands share.

    A command that starts its own takes seconds for it, and again as many until Java is warm. Let commands use this
    one with --remote, or with spark.master in the settings.
    """
    from treaty.cli.registry_connection import needing
    from treaty.errors import NotFound
    from treaty.settings import load_settings

    if not folder.is_dir():
        raise NotFound(f"no folder {folder}; name a project's, or leave it out for this one")
    options = load_settings(config, start=folder).spark()
    with needing("connect"):
        from treaty.spark.session import serve_spark

    asked_to_end = {signal.SIGINT, signal.SIGTERM}
    signal.pthread_sigmask(signal.SIG_BLOCK, asked_to_end)  # threads that begin from here on do not take them either
    with serve_spark(options, port) as address:
        typer.echo(f"Spark is at {address}")
        typer.echo(f"  use it     treaty run --remote {address}, or TREATY_SPARK_MASTER={address}")
        typer.echo(f"  tables     {options.catalog.uri if options.catalog else 'none; set spark.iceberg'}")
        typer.echo("  stop       Ctrl+C")
        signal.sigwait(asked_to_end)
    typer.echo("stopped", err=True)
