"""`treaty kafka`: a local broker, for trying out topics without an installation of Kafka."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from treaty.cli.options import AnswerFormat, AnswerFormatOption, command_group

app = command_group("Run a local Kafka broker, to try out topics.")

FolderOption = Annotated[
    Path, typer.Option("--folder", metavar="DIR", help="The folder of the broker, with its data and its log.")
]
DEFAULT_FOLDER = Path(".treaty/kafka")


@app.command("up")
def up(
    port: Annotated[int, typer.Option("--port", min=1, max=65535, help="The port on 127.0.0.1.")] = 9092,
    folder: FolderOption = DEFAULT_FOLDER,
) -> None:
    """Start a broker in the background, unless it is running; topics of an earlier start are kept.

    It accepts connections of this machine only, without a password. The first start downloads Kafka.
    """
    from treaty.cli.progress import show_progress
    from treaty.cli.registry_connection import create_state_folder, requires_extra
    from treaty.errors import Conflict

    with requires_extra("kafka"):
        import confluent_kafka  # noqa: F401

        from treaty.kafka.broker import find_broker, start_broker
    folder = folder.absolute()
    running = find_broker(folder)
    if running is not None:
        if not running.bootstrap.endswith(f":{port}"):
            raise Conflict(
                f"Kafka runs at {running.bootstrap} already; stop it first with: treaty kafka down, "
                "or choose another folder with --folder"
            )
        typer.echo(f"Kafka runs at {running.bootstrap} already")
        return
    create_state_folder(folder.parent)
    with show_progress() as progress:
        progress.announce("starting Kafka")
        broker = start_broker(folder, port, progress.announce)
    typer.echo(f"Kafka runs at {broker.bootstrap}; stop it with: treaty kafka down")


@app.command("down")
def down(folder: FolderOption = DEFAULT_FOLDER) -> None:
    """Stop the broker; its topics are kept in its folder."""
    from treaty.kafka.broker import stop_broker

    typer.echo("no Kafka broker is running" if stop_broker(folder.absolute()) is None else "stopped")


@app.command("status")
def status(output: AnswerFormatOption = AnswerFormat.TEXT, folder: FolderOption = DEFAULT_FOLDER) -> None:
    """Show whether the broker is running, and where."""
    import json
    from datetime import UTC, datetime

    from treaty.kafka.broker import find_broker

    broker = find_broker(folder.absolute())
    if output is AnswerFormat.JSON and broker is None:
        typer.echo(json.dumps({"running": False}))
    elif broker is None:
        typer.echo("no Kafka broker is running; start one with: treaty kafka up")
    else:
        started = datetime.fromtimestamp(broker.started, UTC).isoformat(timespec="seconds")
        details = {"bootstrap": broker.bootstrap, "process": broker.pid, "started": started, "log": str(broker.log)}
        if output is AnswerFormat.JSON:
            typer.echo(json.dumps({"running": True, **details}))
        else:
            typer.echo(f"Kafka runs at {broker.bootstrap}")
            for name, value in details.items():
                typer.echo(f"  {name:<9} {value}")
