"""The `treaty` command."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperGroup

from treaty.cli.exit_codes import MEANINGS, ExitCode
from treaty.cli.render.printable import visible_lines
from treaty.errors import Refused, TreatyError

CHAPTERS = {
    "Contracts": ("init", "lint", "diff", "check", "comment", "next-version", "convert", "kinds", "rules"),
    "Data": ("infer", "test"),
    "Pipeline": ("plan", "run", "replay", "read", "exceptions", "spark"),
    "Registry": ("register", "search", "show", "history", "activate", "deprecate", "retire", "archive", "tick"),
    "Consumers": (
        "subscribe",
        "unsubscribe",
        "subscriptions",
        "graph",
        "impact",
        "can-i-publish",
        "can-i-retire",
        "migrate",
    ),
    "Governance": ("policy", "waive", "unwaive", "waivers", "proposals", "approve", "decline"),
    "Operation": ("serve", "docs", "token", "audit", "channel", "notices", "redeliver"),
}
"""The commands in the order of the help; each is a module of `treaty.cli.commands`.

A module has a function `run`, or an `app` where the command has commands of its own.
"""

COMMANDS = tuple(name for names in CHAPTERS.values() for name in names)


class _Chapters(TyperGroup):
    """Lists the commands by chapter."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write one section for each chapter."""
        width = max(len(name) for name in COMMANDS)
        for title, names in CHAPTERS.items():
            rows = [
                (name.ljust(width), self.commands[name].get_short_help_str(formatter.width - width - 6))
                for name in names
                if name in self.commands
            ]
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)


def build_app(asked: str | None = None) -> typer.Typer:
    """Return the command line with the command that is asked for, or with all of them where that is unclear."""
    app = typer.Typer(
        name="treaty",
        cls=_Chapters,
        help="Every data boundary an explicit, versioned, executable contract.",
        epilog="Exit codes: " + "; ".join(f"{code.value} {meaning}" for code, meaning in MEANINGS.items()) + ".",
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    )
    app.callback()(_treaty)
    for name in (asked,) if asked in COMMANDS else COMMANDS:
        module = import_module(f"treaty.cli.commands.{name.replace('-', '_')}")
        if hasattr(module, "app"):
            app.add_typer(module.app, name=name)
        else:
            app.command(name)(module.run)
    return app


def _print_version(asked: bool) -> None:
    if asked:
        from treaty import __version__

        typer.echo(f"treaty {__version__}")
        raise typer.Exit


def _treaty(
    version: bool = typer.Option(
        False, "--version", help="Show the version and exit.", callback=_print_version, is_eager=True
    ),
) -> None:
    pass


def main() -> None:
    """Run the command; a user's mistake gets one clear error, not a stack trace."""
    try:
        build_app(sys.argv[1] if len(sys.argv) > 1 else None)()
    except TreatyError as error:
        typer.echo(f"error: {visible_lines(str(error))}", err=True)
        sys.exit(ExitCode.FINDINGS if isinstance(error, Refused) else ExitCode.FAILURE)
    except BrokenPipeError:  # whoever read the output has seen enough
        _write_no_more()
        sys.exit(ExitCode.FINE)
    except OSError as error:
        typer.echo(f"error: cannot write the output: {error.strerror}", err=True)
        _write_no_more()
        sys.exit(ExitCode.FAILURE)


def _write_no_more() -> None:
    """Send what is still to be written nowhere; else Python tries once more at its end, and says that it failed."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
