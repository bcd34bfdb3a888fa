"""Options and arguments that several commands share, each declared once."""

from __future__ import annotations

from datetime import UTC, date, datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

MAX_REASON_CHARACTERS = 2_000


class OutputFormat(StrEnum):
    """Formats of a report on contracts."""

    TEXT = "text"
    JSON = "json"
    MARKDOWN = "markdown"
    SARIF = "sarif"


class AnswerFormat(StrEnum):
    """Formats of a short answer."""

    TEXT = "text"
    JSON = "json"


class PageFormat(StrEnum):
    """Formats of reference pages and plans."""

    TEXT = "text"
    JSON = "json"
    MARKDOWN = "markdown"


def command_group(help_text: str) -> typer.Typer:
    """Return a group of commands that shows its help when it is called without a command."""
    return typer.Typer(help=help_text, no_args_is_help=True, add_completion=False, rich_markup_mode=None)


def parse_date(text: str | None, option: str) -> date | None:
    """Parse the date given with an option."""
    if text is None:
        return None
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a date; write it like 2026-12-31", param_hint=option) from None


def parse_time(text: str | None, option: str = "--now") -> datetime | None:
    """Parse the time given with an option: a date, or a time; without a time zone it is UTC."""
    if text is None:
        return None
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        problem = f"{text!r} is not a time; write it like 2026-12-31 or 2026-12-31T08:00Z"
        raise typer.BadParameter(problem, param_hint=option) from None
    return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)


def _check_mode(mode: str | None) -> str | None:
    """Reject an unknown mode. The judging code is imported only if a mode is given."""
    if mode is not None:
        from treaty.compatibility import parse_mode
        from treaty.errors import InvalidDocument

        try:
            parse_mode(mode)
        except InvalidDocument as error:
            raise typer.BadParameter(str(error)) from None
    return mode


def _check_semantics(semantics: str | None) -> str | None:
    """Reject unknown semantics. The judging code is imported only if semantics are given."""
    if semantics is not None:
        from treaty.compatibility import parse_semantics
        from treaty.errors import InvalidDocument

        try:
            parse_semantics(semantics)
        except InvalidDocument as error:
            raise typer.BadParameter(str(error)) from None
    return semantics


def _check_reason(reason: str | None) -> str | None:
    """Reject a blank reason and one that is too long, before any registry is opened."""
    if reason is not None and not reason.strip():
        raise typer.BadParameter("the reason is blank; it is recorded in the audit log, so say why")
    if reason is not None and len(reason) > MAX_REASON_CHARACTERS:
        raise typer.BadParameter(f"the reason has {len(reason):,} characters; at most {MAX_REASON_CHARACTERS:,}")
    return reason


AnswerFormatOption = Annotated[AnswerFormat, typer.Option("--format", "-f", help="Output format.")]
FormatOption = Annotated[OutputFormat, typer.Option("--format", "-f", help="Output format.")]
PageFormatOption = Annotated[PageFormat, typer.Option("--format", "-f", help="Output format.")]
ConfigOption = Annotated[
    Path | None,
    typer.Option(
        "--config",
        help="The project file. Default: treaty.yaml in this folder or one above.",
        show_default=False,
    ),
]
SemanticsOption = Annotated[
    str | None,
    typer.Option(
        "--semantics",
        help="The rules of readers and data: contract (default), or those of a format as schema registries apply them: "
        "avro, protobuf or json-schema.",
        show_default=False,
        callback=_check_semantics,
    ),
]
ModeOption = Annotated[
    str | None,
    typer.Option(
        "--mode",
        "-m",
        help="none, backward, forward or full, or one of these with _transitive. A contract may pin a stricter mode.",
        show_default=False,
        callback=_check_mode,
    ),
]
DataProjectOption = Annotated[
    Path | None,
    typer.Option(
        "--data",
        metavar="PROJECT",
        help="Test the published tables of this pipeline project against the proposed version, on Spark.",
        show_default=False,
    ),
]
NowOption = Annotated[
    str | None,
    typer.Option(
        "--now",
        metavar="TIME",
        help="Show the state at this time, a date or a time such as 2026-12-31T08:00Z. Nothing is changed or sent.",
        show_default=False,
    ),
]

RegistryOption = Annotated[
    str | None,
    typer.Option(
        "--registry",
        metavar="URL|PATH",
        help="The registry: the address of a server, a database URL or a file. Default: the setting `registry`.",
        show_default=False,
    ),
]
TokenFileOption = Annotated[
    Path | None,
    typer.Option(
        "--token-file",
        help="A file with the token for the registry server. Default: TREATY_TOKEN.",
        show_default=False,
    ),
]
SecurityOption = Annotated[
    list[str] | None,
    typer.Option(
        "--security",
        metavar="SETTING=VARIABLE",
        help="The environment variable of a security setting of the brokers, such as password=KAFKA_PASSWORD. "
        "Repeatable.",
        show_default=False,
    ),
]
LimitOption = Annotated[int, typer.Option("--limit", min=1, max=1000, help="Maximum number of entries.")]
CursorOption = Annotated[
    str | None,
    typer.Option("--cursor", metavar="CURSOR", help="Continue where the previous page ended.", show_default=False),
]
AllOption = Annotated[bool, typer.Option("--all", help="Fetch all pages.")]
PathArgument = Annotated[
    str, typer.Argument(metavar="PATH", help="A contract file, git:REF:path, or - for standard input.")
]
PathsArgument = Annotated[
    list[str],
    typer.Argument(metavar="PATH...", help="Contract files, folders, git:REF:path, or - for standard input."),
]
ContractArgument = Annotated[str, typer.Argument(metavar="CONTRACT", help="The id of a contract.")]
VersionArgument = Annotated[str, typer.Argument(metavar="VERSION", help="One of its versions.")]
LineArgument = Annotated[str, typer.Argument(metavar="LINE", help="A line, such as orders@1.")]
FetchOption = Annotated[bool, typer.Option("--fetch", help="Fetch history that a shallow clone lacks from origin.")]
OverrideOption = Annotated[
    str | None,
    typer.Option(
        "--override",
        metavar="REASON",
        help="Do it despite the objections. The reason is recorded in the audit log.",
        show_default=False,
        callback=_check_reason,
    ),
]
OwnOverrideOption = Annotated[
    str | None,
    typer.Option(
        "--override",
        metavar="REASON",
        help="Approve your own proposal. The reason is recorded in the audit log.",
        show_default=False,
        callback=_check_reason,
    ),
]
ReasonOption = Annotated[str, typer.Option("--reason", help="The reason, for the audit log.", callback=_check_reason)]
OptionalReasonOption = Annotated[
    str | None,
    typer.Option("--reason", help="The reason, for the audit log.", show_default=False, callback=_check_reason),
]

FolderArgument = Annotated[
    Path, typer.Argument(metavar="[FOLDER]", help="The project folder. Default: this folder.", show_default=False)
]
SelectOption = Annotated[
    list[str] | None,
    typer.Option(
        "--select",
        "-s",
        metavar="NAME",
        help="Only this step. NAME+ adds everything downstream, +NAME everything upstream. Repeatable.",
        show_default=False,
    ),
]
WaitOption = Annotated[
    float, typer.Option("--wait", metavar="SECONDS", min=0, help="How long to wait for another run to finish.")
]
MasterOption = Annotated[
    str | None,
    typer.Option(
        "--master",
        metavar="URL",
        help="The Spark master. Default: the setting `spark.master`, or local[*].",
        show_default=False,
    ),
]
RemoteOption = Annotated[
    str | None,
    typer.Option("--remote", metavar="URL", help="A Spark Connect server, such as sc://host.", show_default=False),
]
DataArgument = Annotated[
    str,
    typer.Argument(metavar="DATA", help="A file or folder, a Spark table, or a JDBC URL with its table."),
]
DataFormatOption = Annotated[
    str | None,
    typer.Option(
        "--data-format", metavar="FORMAT", help="The format of the data, if its name does not tell.", show_default=False
    ),
]
ReaderOption = Annotated[
    list[str] | None,
    typer.Option(
        "--option", metavar="NAME=VALUE", help="An option for Spark's reader. Repeatable.", show_default=False
    ),
]
