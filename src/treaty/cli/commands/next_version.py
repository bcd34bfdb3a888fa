"""`treaty next-version`: the version is computed, not chosen."""

from __future__ import annotations

from typing import Annotated

import typer

from treaty.cli.commands.diff import AfterArgument, BeforeArgument, judge_sources
from treaty.cli.options import AnswerFormat, ConfigOption
from treaty.errors import InvalidDocument


def run(
    before: BeforeArgument,
    after: AfterArgument,
    output: Annotated[
        AnswerFormat, typer.Option("--format", "-f", help="JSON says the bump too, and the changes that ask for it.")
    ] = AnswerFormat.TEXT,
    config: ConfigOption = None,
) -> None:
    """Compute the version a change must have."""
    verdict, _, _ = judge_sources(before, after, None, config)
    if verdict.required_version is None:
        found = verdict.before.version if verdict.before else ""
        raise InvalidDocument(
            f"{before} has the version {found!r}, which is not MAJOR.MINOR.PATCH; there is no next one"
        )
    if output is AnswerFormat.JSON:
        from treaty.contracts.text.writer import write_json

        asking = [item.change for item in verdict.judged if item.grade.bump is verdict.required_bump]
        data = {
            "version": verdict.required_version,
            "bump": str(verdict.required_bump),
            "because": [{"kind": change.kind, "path": change.path} for change in asking],
        }
        typer.echo(write_json(data), nl=False)
    else:
        typer.echo(verdict.required_version)
