"""`treaty spark`: the shared Spark, a server in the background that every command finds."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING, Annotated

import typer

from treaty.cli.options import AnswerFormat, AnswerFormatOption, ConfigOption, command_group

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from treaty.spark.shared_spark import SharedSpark

app = command_group("Keep a Spark running in the background for all commands.")

START_TIMEOUT_S = 180
STOP_TIMEOUT_S = 30
POLL_INTERVAL_S = 0.1


@app.command("up")
def up(
    idle: Annotated[
        str, typer.Option("--idle", metavar="TIME", help="Stop when no command has used it for this long, such as 30m.")
    ] = "1h",
    memory: Annotated[
        str | None,
        typer.Option(
            "--memory", metavar="SIZE", help="Its memory. Default: the setting `spark.memory`.", show_default=False
        ),
    ] = None,
    port: Annotated[
        int | None,
        typer.Option("--port", min=1, max=65535, help="The port. Default: a free one.", show_default=False),
    ] = None,
    foreground: Annotated[
        bool, typer.Option("--foreground", help="Run it in this process until it is interrupted.")
    ] = False,
    config: ConfigOption = None,
) -> None:
    """Start the shared Spark, unless it is running.

    Commands of every project use it instead of starting Spark themselves. It accepts connections of this user on this
    machine only.
    """
    from treaty.cli.registry_connection import requires_extra

    with requires_extra("connect"):
        import grpc  # type: ignore[import-untyped]  # noqa: F401  (the server does not need it, but every client does)

        from treaty.spark.shared_spark import find_shared_spark
    idle_s = _parse_idle(idle)
    running = find_shared_spark()
    if running is not None:
        typer.echo(f"Spark runs at {running.address} already")
    elif foreground:
        _serve(config, memory, port, idle_s)
    else:
        shared = _start_in_background(config, memory, port, idle)
        typer.echo(f"Spark runs at {shared.address}; it stops after {idle} without use, or with: treaty spark down")


@app.command("down")
def down(
    force: Annotated[bool, typer.Option("--force", help="Stop it even while a command uses it.")] = False,
) -> None:
    """Stop the shared Spark."""
    from treaty.cli.registry_connection import requires_extra
    from treaty.errors import Conflict, Unavailable

    with requires_extra("spark"):
        from treaty.spark.shared_spark import find_shared_spark, is_in_use
    shared = find_shared_spark()
    if shared is None:
        typer.echo("no shared Spark is running")
        return
    if not force and is_in_use():
        raise Conflict("a command uses the shared Spark; wait for it, or stop Spark anyway with --force")
    os.kill(shared.pid, signal.SIGTERM)
    if not _wait(lambda: find_shared_spark() is None, STOP_TIMEOUT_S):
        raise Unavailable(f"process {shared.pid} did not stop within {STOP_TIMEOUT_S} s")
    typer.echo("stopped")


@app.command("status")
def status(output: AnswerFormatOption = AnswerFormat.TEXT) -> None:
    """Show whether the shared Spark is running, and where."""
    import json

    from treaty.cli.registry_connection import requires_extra

    with requires_extra("spark"):
        from treaty.spark.shared_spark import find_shared_spark, is_in_use, log_file
    shared = find_shared_spark()
    if output is AnswerFormat.JSON:
        typer.echo(json.dumps({"running": shared is not None, **(_status(shared, is_in_use()) if shared else {})}))
    elif shared is None:
        typer.echo("no shared Spark is running; start one with: treaty spark up")
    else:
        typer.echo(f"Spark runs at {shared.address}")
        for name, value in _status(shared, is_in_use()).items():
            typer.echo(f"  {name:<8} {value}")
        typer.echo(f"  {'log':<8} {log_file()}")


def _status(shared: SharedSpark, in_use: bool) -> dict[str, str | int | bool]:
    from datetime import UTC, datetime

    return {
        "address": shared.address,
        "process": shared.pid,
        "started": datetime.fromtimestamp(shared.started, UTC).isoformat(timespec="seconds"),
        "memory": shared.memory,
        "idle": f"{shared.idle_s:g} s",
        "in use": in_use,
    }


def _parse_idle(text: str) -> float:
    from treaty.contracts.quantities import parse_seconds

    seconds = parse_seconds(text)
    if seconds is None or seconds <= 0:
        raise typer.BadParameter(f"{text!r} is not a duration; write it like 30m or 2h", param_hint="--idle")
    return float(seconds)


def _start_in_background(config: Path | None, memory: str | None, port: int | None, idle: str) -> SharedSpark:
    from treaty.cli.progress import show_progress
    from treaty.errors import Unavailable
    from treaty.spark.shared_spark import create_state_folder, find_shared_spark, log_file

    options = {"--config": config and config.absolute(), "--memory": memory, "--port": port, "--idle": idle}
    given = [str(part) for name, value in options.items() if value is not None for part in (name, value)]
    command = [sys.executable, "-c", "from treaty.cli.app import main; main()", "spark", "up", "--foreground", *given]
    create_state_folder()
    log_file().write_bytes(b"")
    with show_progress() as progress, log_file().open("ab") as log:
        progress.announce("starting Spark")
        server = subprocess.Popen(  # noqa: S603
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
        )
        _wait(lambda: server.poll() is not None or find_shared_spark() is not None, START_TIMEOUT_S)
    shared = find_shared_spark()
    if shared is None:
        server.terminate()
        lines = [line for line in log_file().read_text(encoding="utf-8", errors="replace").splitlines() if line.strip()]
        reason = next((line for line in reversed(lines) if line.startswith("error: ")), "error: no reason was given")
        raise Unavailable(f"{reason.removeprefix('error: ')}; the log is {log_file()}")
    return shared


def _wait(condition: Callable[[], bool], seconds: float) -> bool:
    """Wait until a condition holds; return whether it does."""
    deadline = time.monotonic() + seconds
    while not (holds := condition()) and time.monotonic() < deadline:
        time.sleep(POLL_INTERVAL_S)
    return holds


def _serve(config: Path | None, memory: str | None, port: int | None, idle_s: float) -> None:
    """Serve until a signal arrives or no command uses the server."""
    from dataclasses import replace

    from treaty.settings import load_settings
    from treaty.spark.shared_spark import serve_shared_spark

    options = load_settings(config).spark()
    stop = threading.Event()
    stop_signals = {signal.SIGINT, signal.SIGTERM}
    signal.pthread_sigmask(signal.SIG_BLOCK, stop_signals)  # threads inherit the mask, so only sigwait receives them

    def stop_on_signal() -> None:
        signal.sigwait(stop_signals)
        stop.set()

    threading.Thread(target=stop_on_signal, daemon=True).start()
    for text in serve_shared_spark(replace(options, memory=memory or options.memory), port, idle_s, stop):
        typer.echo(f"Spark runs at {text}" if text.startswith("sc://") else text)
