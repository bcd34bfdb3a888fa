"""`treaty check`: what a branch does to its contracts, whom it hits, and whether it may merge."""

from __future__ import annotations

from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from treaty.cli.exit_codes import ExitCode
from treaty.cli.options import ConfigOption, ModeOption, RegistryOption, TokenFileOption, day
from treaty.cli.render.review import CheckFormat

if TYPE_CHECKING:
    from treaty.review import Review


class State(StrEnum):
    """Which state of the repository is looked at.

    Said again here so that the command starts without loading the review; a test holds the two together.
    """

    WORKING = "working"
    STAGED = "staged"
    COMMITTED = "committed"


BaseOption = Annotated[
    str | None,
    typer.Option(
        "--base",
        metavar="REF",
        help="What to compare with: by default what CI says, else the main branch.",
        show_default=False,
    ),
]
FetchOption = Annotated[bool, typer.Option("--fetch", help="Fetch history that a shallow clone lacks, from origin.")]


def run(
    paths: Annotated[
        list[str] | None,
        typer.Argument(metavar="[PATH]...", help="Only these files and folders.", show_default=False),
    ] = None,
    base: BaseOption = None,
    state: Annotated[
        State,
        typer.Option("--state", help="The files as they are, as they are staged, or as they are committed."),
    ] = State.WORKING,
    fetch: FetchOption = False,
    fix: Annotated[bool, typer.Option("--fix", help="Write the version each change needs, and a changelog.")] = False,
    mode: ModeOption = None,
    offline: Annotated[bool, typer.Option("--offline", help="Ask no registry.")] = False,
    registry: RegistryOption = None,
    token_file: TokenFileOption = None,
    output: Annotated[CheckFormat, typer.Option("--format", "-f", help="How to print the review.")] = CheckFormat.TEXT,
    save: Annotated[
        list[str] | None,
        typer.Option(
            "--save", metavar="FORMAT=FILE", help="Also write it to a file; once for each.", show_default=False
        ),
    ] = None,
    as_of: Annotated[
        str | None, typer.Option("--as-of", metavar="DATE", help="Judge waivers as of this day.", show_default=False)
    ] = None,
    config: ConfigOption = None,
) -> None:
    """Review the contracts that a branch changes.

    Compares them with where the branch left its base, and with the registry if there is one: changes, the version
    they need, policies, lint, consumers hit by field, and whether it may merge. Exit code 3 means: it may not.
    """
    from treaty.cli.branch_review import Asked, check_out
    from treaty.cli.git import changed_files
    from treaty.cli.git.base import Fetching
    from treaty.cli.render.review import drawn
    from treaty.settings import load_settings

    wanted = _files(save or [])
    if fix and state is not State.WORKING:
        raise typer.BadParameter("--fix writes files, so it goes with --state working")
    asked = Asked(
        base,
        changed_files.State(state),
        Fetching.ALLOWED if fetch else Fetching.NEVER,
        mode,
        day(as_of, "--as-of") or datetime.now(UTC).date(),
        tuple(paths or ()),
        registry,
        token_file,
        offline,
    )
    settings = load_settings(config)
    checkout = check_out(asked, settings)
    review = checkout.review()
    if fix:
        from treaty.cli.version_fixes import fix_all

        done = list(fix_all(review, checkout.git.root, settings.limits))
        for one in done:
            typer.echo(f"fixed {_visible(str(one))}" if one.version else _visible(str(one)), err=True)
        review = checkout.review() if any(one.version for one in done) else review
    for form, file in wanted:
        _save(file, drawn(review, form))
    typer.echo(drawn(review, output), nl=False)
    _end(review, settings.parts.check.on_registry_down)


def _end(review: Review, on_registry_down: str) -> None:
    if not review.may_merge:
        raise typer.Exit(ExitCode.FINDINGS)
    if review.silent is not None and on_registry_down == "fail":
        raise typer.Exit(ExitCode.FAILURE)


def _files(given: list[str]) -> list[tuple[CheckFormat, Path]]:
    found = []
    for one in given:
        name, mark, file = one.partition("=")
        if not mark or not file or name not in list(CheckFormat):
            choices = ", ".join(CheckFormat)
            raise typer.BadParameter(f"{one!r} is no FORMAT=FILE; formats are {choices}", param_hint="--save")
        found.append((CheckFormat(name), Path(file)))
    return found


def _save(file: Path, text: str) -> None:
    import click

    from treaty.errors import Unavailable

    try:
        file.write_text(click.unstyle(text), encoding="utf-8", newline="")
    except OSError as error:
        raise Unavailable(f"cannot write {file}: {error.strerror}") from None


def _visible(text: str) -> str:
    from treaty.cli.render.printable import visible

    return visible(text)
