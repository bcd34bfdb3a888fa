"""A command that has commands of its own."""

from __future__ import annotations

import typer


def command_group(what: str) -> typer.Typer:
    """Return a group that says what it is for, and lists its commands when called alone."""
    return typer.Typer(help=what, no_args_is_help=True, add_completion=False, rich_markup_mode=None)
