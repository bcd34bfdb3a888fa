"""Handing over a test report: printed, and written to a file where one is named."""

from __future__ import annotations

import os
import uuid
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from treaty.cli.drawing.testing import Held, ReportFormat, drawn
from treaty.errors import Unavailable

if TYPE_CHECKING:
    from treaty.spark.testing import TestReport


def refuse_unless_writable(file: Path | None) -> None:
    """Refuse, before long work, a file that cannot be written after it."""
    if file is None:
        return
    if file.is_dir():
        raise typer.BadParameter(f"{file} is a folder; name a file", param_hint="--output")
    if not file.absolute().parent.is_dir():
        raise typer.BadParameter(f"there is no folder {file.parent}; make it first", param_hint="--output")
    if not os.access(file if file.exists() else file.absolute().parent, os.W_OK):
        raise typer.BadParameter(f"{file} cannot be written", param_hint="--output")


def deliver(report: TestReport, output: ReportFormat, file: Path | None, held: Held) -> None:
    """Print the report; where a file takes it, what is printed is for people."""
    if file is not None:
        _write(file, drawn(report, output, held))
    if file is None and output is not ReportFormat.TEXT:
        typer.echo(drawn(report, output, held), nl=False)
        return
    from treaty.cli.drawing.testing.text import print_report

    print_report(report, held)
    if file is not None:
        typer.echo(f"wrote {file}", err=True)


def _write(file: Path, text: str) -> None:
    """Write a file whole or not at all; what is no plain file, such as a device, is written to as it is."""
    try:
        if file.exists() and not file.is_file():
            file.write_text(text, encoding="utf-8")
            return
        made = file.absolute().parent / f".{file.name}.{uuid.uuid4().hex}"
        try:
            made.write_text(text, encoding="utf-8")
            made.replace(file)
        finally:
            made.unlink(missing_ok=True)
    except OSError as error:
        raise Unavailable(f"cannot write {file}: {error.strerror}") from None
