"""`treaty check`: review the contracts that a branch changes, and decide whether it may merge."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from treaty.cli.exit_codes import ExitCode
from treaty.cli.options import (
    ConfigOption,
    DataProjectOption,
    FetchOption,
    ModeOption,
    NowOption,
    RegistryOption,
    TokenFileOption,
    parse_time,
)
from treaty.cli.render.review import CheckFormat

if TYPE_CHECKING:
    from treaty.review import Review


class State(StrEnum):
    """Which state of the repository is checked.

    A copy of `treaty.cli.git.changed_files.State`, so that the command starts without importing the review; a test
    keeps the two equal.
    """

    WORKING = "working"
    STAGED = "staged"
    COMMITTED = "committed"


BaseOption = Annotated[
    str | None,
    typer.Option(
        "--base",
        metavar="REF",
        help="The base to compare with. Default: the target branch that CI reports, or the main branch.",
        show_default=False,
    ),
]


def check(
    paths: Annotated[
        list[str] | None,
        typer.Argument(metavar="[PATH]...", help="Check only these files and folders.", show_default=False),
    ] = None,
    base: BaseOption = None,
    state: Annotated[
        State,
        typer.Option("--state", help="Check the working tree, the staged files or the committed files."),
    ] = State.WORKING,
    fetch: FetchOption = False,
    fix: Annotated[bool, typer.Option("--fix", help="Write the required versions and changelog entries.")] = False,
    mode: ModeOption = None,
    offline: Annotated[bool, typer.Option("--offline", help="Do not ask a registry.")] = False,
    registry: RegistryOption = None,
    token_file: TokenFileOption = None,
    output: Annotated[CheckFormat, typer.Option("--format", "-f", help="Output format.")] = CheckFormat.TEXT,
    save: Annotated[
        list[str] | None,
        typer.Option(
            "--save", metavar="FORMAT=FILE", help="Also write the review to a file. Repeatable.", show_default=False
        ),
    ] = None,
    comment: Annotated[
        bool,
        typer.Option(
            "--comment", help="Comment on the pull or merge request of this CI job; updates an earlier comment."
        ),
    ] = False,
    data: DataProjectOption = None,
    now: NowOption = None,
    config: ConfigOption = None,
) -> None:
    """Review the contracts that a branch changes.

    Compares them with the base of the branch, and with the registry if there is one: changes, required versions,
    policies, lint and affected consumers; and what is coming for the consumers that the repository declares in files
    with `subscriptions`. Exit code 3 means that the branch may not merge. --comment needs GITHUB_TOKEN or
    TREATY_GITLAB_TOKEN.
    """
    from treaty.cli.branch_review import CheckRequest, check_out
    from treaty.cli.git import changed_files
    from treaty.cli.git.base import Fetching
    from treaty.cli.render.plain_text import printable
    from treaty.cli.render.review import render_review
    from treaty.settings import load_settings

    files = _parse_files(save or [])
    if fix and state is not State.WORKING:
        raise typer.BadParameter("--fix changes files, so it needs --state working")
    time = parse_time(now)
    request = CheckRequest(
        base,
        changed_files.State(state),
        Fetching.ALLOWED if fetch else Fetching.NEVER,
        mode,
        (time or datetime.now(UTC)).date(),
        tuple(paths or ()),
        registry,
        token_file,
        offline,
        time,
    )
    settings = load_settings(config)
    checkout = check_out(request, settings)
    review = checkout.review()
    if fix:
        from treaty.cli.branch_review import fix_all

        fixes = list(fix_all(review, checkout.git.root, settings.limits))
        for fix_result in fixes:
            text = printable(str(fix_result))
            typer.echo(f"fixed {text}" if fix_result.version else text, err=True)
        review = checkout.review() if any(fix_result.version for fix_result in fixes) else review
    if data is not None:
        from treaty.cli.data_impact import add_data_impact

        review = add_data_impact(review, data)
    for file_format, file in files:
        _save(file, render_review(review, file_format))
    typer.echo(render_review(review, output), nl=False)
    if comment:
        _comment(review, output)
    _exit(review, settings.parts.check.on_registry_down)


def _comment(review: Review, output: CheckFormat) -> None:
    """Comment on the pull request. A comment that cannot be posted is a warning: the verdict decides the exit code."""
    from treaty.cli.pull_request_comments import detect_host, post_comment
    from treaty.cli.render.plain_text import printable
    from treaty.cli.render.review import render_review
    from treaty.errors import TreatyError

    try:
        result = post_comment(detect_host(os.environ), render_review(review, CheckFormat.MARKDOWN))
    except TreatyError as error:
        problem = f"cannot comment on the pull request: {error}"
        if output is CheckFormat.GITHUB:
            from treaty.cli.render.review.code_hosts import warning_command

            typer.echo(warning_command(problem))
        else:
            typer.echo(f"warning: {printable(problem)}", err=True)
    else:
        typer.echo(f"comment {result.value}", err=True)


def _exit(review: Review, on_registry_down: str) -> None:
    if not review.may_merge:
        raise typer.Exit(ExitCode.FINDINGS)
    if review.registry_failure is not None and on_registry_down == "fail":
        raise typer.Exit(ExitCode.FAILURE)


def _parse_files(texts: list[str]) -> list[tuple[CheckFormat, Path]]:
    files = []
    for text in texts:
        name, separator, file = text.partition("=")
        if not separator or not file or name not in list(CheckFormat):
            choices = ", ".join(CheckFormat)
            raise typer.BadParameter(f"{text!r} is not FORMAT=FILE; the formats are {choices}", param_hint="--save")
        files.append((CheckFormat(name), Path(file)))
    return files


def _save(file: Path, text: str) -> None:
    import click

    from treaty.errors import Unavailable

    try:
        file.write_text(click.unstyle(text), encoding="utf-8", newline="")
    except OSError as error:
        raise Unavailable(f"cannot write {file}: {error.strerror}") from None
