"""The `treaty` command line: command groups, lazy loading of commands, exit codes."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperGroup

from treaty.cli.exit_codes import MEANINGS, ExitCode
from treaty.cli.render.plain_text import printable_lines
from treaty.errors import InvalidDocument, NoContract, Refused, TreatyError

PANELS = {
    "Contracts": ("init", "infer", "lint", "diff", "check", "convert", "explain", "test", "certify", "events"),
    "Pipeline": ("plan", "run", "replay", "monitor", "read", "quarantine", "exceptions", "maintain", "erase"),
    "Registry": (
        "register",
        "search",
        "show",
        "can-i-publish",
        "can-i-retire",
        "can-i-cut-over",
        "version",
        "consumer",
        "map",
        "migrate",
        "certificate",
        "parallel",
        "cutover",
    ),
    "Governance": ("proposal", "waiver", "policy", "detokenise"),
    "Operations": ("health", "incident", "drift", "catalog", "serve", "schema-registry", "spark", "kafka", "admin"),
}
"""Commands in the order in which `treaty --help` lists them."""

EXIT_CODES: dict[type[TreatyError], ExitCode] = {Refused: ExitCode.FINDINGS, NoContract: ExitCode.USAGE}
"""Exit codes of errors. An invalid document is a finding as well; any other error is a failure."""

COMMANDS = tuple(name for names in PANELS.values() for name in names)

_FUNCTIONS = {
    "replay": "run:replay",
    "can-i-publish": "can_i:can_i_publish",
    "can-i-retire": "can_i:can_i_retire",
    "can-i-cut-over": "can_i:can_i_cut_over",
    "cutover": "cutover:app",
    "schema-registry": "schema_registry:app",
    "map": "map:app",
    "parallel": "parallel:app",
    "events": "events:app",
    "drift": "drift:app",
    "certificate": "certificate:app",
    "test": "test:run",
}
"""Module and function of commands that are not `treaty.cli.commands.<name>:<name>`."""


class CommandGroup(TyperGroup):
    """The top-level group. Imports a command's module only when that command is used."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of all commands, without importing them."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command, or None. An unknown name loads all of them, so that the error can suggest a similar one."""
        for name in (cmd_name,) if cmd_name in COMMANDS else COMMANDS:
            if name not in self.commands:
                self.commands[name] = load_command(name)
        return self.commands.get(cmd_name)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write one section per panel."""
        width = max(map(len, COMMANDS))
        for title, names in PANELS.items():
            commands = [self.get_command(ctx, name) for name in names]
            with formatter.section(title):
                limit = formatter.width - width - 6
                formatter.write_dl(
                    [(command.name.ljust(width), command.get_short_help_str(limit)) for command in commands]
                )


def load_command(name: str) -> Any:
    """Import a command: a function, or the `app` of a group."""
    module_name, _, function = _FUNCTIONS.get(name, f"{name}:{name}").partition(":")
    module = import_module(f"treaty.cli.commands.{module_name}")
    holder = typer.Typer(rich_markup_mode=None)
    if hasattr(module, "app"):
        holder.add_typer(module.app, name=name)
    else:
        holder.command(name)(getattr(module, function))
    return typer.main.get_group(holder).commands[name]


def build_app() -> typer.Typer:
    """Return the command line."""
    app = typer.Typer(
        name="treaty",
        cls=CommandGroup,
        help="Data contracts: explicit, versioned and enforced.",
        epilog="Exit codes: " + "; ".join(f"{code.value} {meaning}" for code, meaning in MEANINGS.items()) + ".",
        no_args_is_help=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    )
    app.callback()(_treaty)
    return app


def _print_version(requested: bool) -> None:
    if requested:
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
    """Run the command line. A user's mistake gives one clear error message, not a stack trace."""
    try:
        build_app()()
    except TreatyError as error:
        typer.echo(f"error: {printable_lines(str(error))}", err=True)
        sys.exit(exit_code(error))
    except BrokenPipeError:  # the reader, such as `head`, closed the pipe
        _discard_output()
        sys.exit(ExitCode.FINE)
    except OSError as error:
        typer.echo(f"error: cannot write the output: {error.strerror}", err=True)
        _discard_output()
        sys.exit(ExitCode.FAILURE)


def exit_code(error: TreatyError) -> ExitCode:
    """Return the exit code of an error. A document with findings was read and is invalid, as `treaty lint` reports."""
    for kind, code in EXIT_CODES.items():
        if isinstance(error, kind):
            return code
    is_invalid_document = isinstance(error, InvalidDocument) and bool(error.findings)
    return ExitCode.FINDINGS if is_invalid_document else ExitCode.FAILURE


def _discard_output() -> None:
    """Redirect standard output to the null device, so that Python's flush at exit does not fail again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
