"""`treaty next-version`: the version is computed, not chosen."""

from __future__ import annotations

from typing import Annotated

import typer

from treaty.cli.commands.diff import AfterArgument, BeforeArgument, judge_sources
from treaty.cli.options import ConfigOption
from treaty.errors import Refused


def run(
    before: BeforeArgument,
    after: AfterArgument,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the version, the bump and the changes that ask for it.")
    ] = False,
    config: ConfigOption = None,
) -> None:
    """Compute the version a change must have."""
    verdict, _ = judge_sources(before, after, None, config)
    if verdict.required_version is None:
        found = verdict.before.version if verdict.before else ""
        raise Refused(f"{before} has the version {found!r}, which is not MAJOR.MINOR.PATCH; there is no next one")
    if as_json:
        from treaty.contracts.writing import write_json

        asking = [item.change for item in verdict.judged if item.grade.bump is verdict.required_bump]
        data = {
            "version": verdict.required_version,
            "bump": str(verdict.required_bump),
            "because": [{"kind": change.kind, "path": change.path} for change in asking],
        }
        typer.echo(write_json(data), nl=False)
    else:
        typer.echo(verdict.required_version)
