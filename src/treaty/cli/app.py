"""The `treaty` command."""

from __future__ import annotations

import os
import sys

import typer

from treaty.cli.commands import convert, diff, init, kinds, lint, next_version, rules
from treaty.cli.exit_codes import MEANINGS, ExitCode
from treaty.contracts.errors import TreatyError

app = typer.Typer(
    name="treaty",
    help="Every data boundary an explicit, versioned, executable contract.",
    epilog="Exit codes: " + "; ".join(f"{code.value} {meaning}" for code, meaning in MEANINGS.items()) + ".",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
for command in (init, lint, diff, next_version, convert, kinds, rules):
    app.command(command.__name__.rpartition(".")[2].replace("_", "-"))(command.run)


def _print_version(asked: bool) -> None:
    if asked:
        from treaty import __version__

        typer.echo(f"treaty {__version__}")
        raise typer.Exit


@app.callback()
def _treaty(
    version: bool = typer.Option(
        False, "--version", help="Show the version and exit.", callback=_print_version, is_eager=True
    ),
) -> None:
    pass


def main() -> None:
    """Run the command; a user's mistake gets one clear error, not a stack trace."""
    try:
        app()
    except TreatyError as error:
        typer.echo(f"error: {error}", err=True)
        sys.exit(ExitCode.FAILURE)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(ExitCode.FAILURE)
