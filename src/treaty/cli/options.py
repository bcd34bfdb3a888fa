"""Options that several commands share."""

from __future__ import annotations

from datetime import date
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

_LONGEST_REASON = 2_000


class OutputFormat(StrEnum):
    """How a result is printed."""

    TEXT = "text"
    JSON = "json"
    MARKDOWN = "markdown"
    SARIF = "sarif"


class AnswerFormat(StrEnum):
    """How a short answer is printed."""

    TEXT = "text"
    JSON = "json"


class PageFormat(StrEnum):
    """How reference pages are printed."""

    TEXT = "text"
    JSON = "json"
    MARKDOWN = "markdown"


def day(text: str | None, option: str) -> date | None:
    """Read the day that an option names."""
    if text is None:
        return None
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a date; write it like 2026-12-31", param_hint=option) from None


def _known_mode(mode: str | None) -> str | None:
    """Refuse a mode that is none; the judgement is loaded only where a mode is given."""
    if mode is not None:
        from treaty.compatibility import parse_mode
        from treaty.errors import InvalidDocument

        try:
            parse_mode(mode)
        except InvalidDocument as error:
            raise typer.BadParameter(str(error)) from None
    return mode


def _why(reason: str | None) -> str | None:
    """Refuse a reason that says nothing, or more than is kept, whatever registry it is meant for."""
    if reason is not None and not reason.strip():
        raise typer.BadParameter("a reason is noted for those who come after, and this one is blank; say why")
    if reason is not None and len(reason) > _LONGEST_REASON:
        raise typer.BadParameter(f"the reason has {len(reason):,} characters; {_LONGEST_REASON:,} are kept at most")
    return reason


AnswerFormatOption = Annotated[AnswerFormat, typer.Option("--format", "-f", help="How to print the answer.")]
FormatOption = Annotated[OutputFormat, typer.Option("--format", "-f", help="How to print the result.")]
PageFormatOption = Annotated[PageFormat, typer.Option("--format", "-f", help="How to print the pages.")]
ConfigOption = Annotated[
    Path | None,
    typer.Option("--config", help="The project file; by default treaty.yaml here or above.", show_default=False),
]
ModeOption = Annotated[
    str | None,
    typer.Option(
        "--mode",
        "-m",
        help="none, backward, forward, full, or one of these with _transitive. A contract's own pin holds at least.",
        show_default=False,
        callback=_known_mode,
    ),
]

RegistryOption = Annotated[
    str | None,
    typer.Option(
        "--registry",
        metavar="URL|PATH",
        help="The registry: a server's address, a database URL or a file. By default as set, .treaty/registry.db.",
        show_default=False,
    ),
]
TokenFileOption = Annotated[
    Path | None,
    typer.Option(
        "--token-file", help="A file with the token for a registry's server; else TREATY_TOKEN.", show_default=False
    ),
]
LimitOption = Annotated[int, typer.Option("--limit", min=1, max=1000, help="How many at most.")]
CursorOption = Annotated[
    str | None,
    typer.Option("--cursor", metavar="CURSOR", help="Go on from here, as the page before said.", show_default=False),
]
AllOption = Annotated[bool, typer.Option("--all", help="Page through all of them.")]
PathArgument = Annotated[
    str, typer.Argument(metavar="PATH", help="A contract file, git:REF:path, or - for standard input.")
]
OverrideOption = Annotated[
    str | None,
    typer.Option(
        "--override",
        metavar="REASON",
        help="Do it whatever stands against it; the reason is noted.",
        show_default=False,
        callback=_why,
    ),
]
OwnOverrideOption = Annotated[
    str | None,
    typer.Option(
        "--override",
        metavar="REASON",
        help="Approve your own; the reason is noted.",
        show_default=False,
        callback=_why,
    ),
]
ReasonOption = Annotated[str, typer.Option("--reason", help="Why.", callback=_why)]
NotedReasonOption = Annotated[
    str | None, typer.Option("--reason", help="Why; it is noted.", show_default=False, callback=_why)
]


FolderArgument = Annotated[
    Path, typer.Argument(metavar="[FOLDER]", help="The project's folder; by default this one.", show_default=False)
]
SelectOption = Annotated[
    list[str] | None,
    typer.Option(
        "--select",
        "-s",
        metavar="NAME",
        help="Only this; NAME+ with all that follows from it, +NAME with all that it follows from. May be repeated.",
        show_default=False,
    ),
]
WaitOption = Annotated[
    float, typer.Option("--wait", metavar="SECONDS", min=0, help="How long to wait for another run to end.")
]
MasterOption = Annotated[
    str | None,
    typer.Option("--master", metavar="URL", help="Where Spark runs; by default as set, local[*].", show_default=False),
]
RemoteOption = Annotated[
    str | None,
    typer.Option("--remote", metavar="URL", help="A Spark Connect server, such as sc://host.", show_default=False),
]


def command_group(what: str) -> typer.Typer:
    """Return a group that says what it is for, and lists its commands when called alone."""
    return typer.Typer(help=what, no_args_is_help=True, add_completion=False, rich_markup_mode=None)
