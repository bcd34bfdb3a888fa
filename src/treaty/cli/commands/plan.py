"""`treaty plan`: what a run would do and why, and the problems that would stop it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from treaty.cli.exit_codes import ExitCode
from treaty.cli.options import (
    AnswerFormat,
    AnswerFormatOption,
    ConfigOption,
    FolderArgument,
    SelectOption,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from treaty.cli.pipeline_project import OpenedProject
    from treaty.contracts.findings import Finding
    from treaty.pipeline.plan.contract_drafts import Draft


def plan(
    folder: FolderArgument = Path(),
    select: SelectOption = None,
    lineage: Annotated[
        list[str] | None,
        typer.Option(
            "--lineage",
            metavar="NAME[.COLUMN]",
            help="Show the origin of its columns; * for everything. Repeatable.",
            show_default=False,
        ),
    ] = None,
    offline: Annotated[
        bool, typer.Option("--offline", help="Use only the files of the project, without its tables and the registry.")
    ] = False,
    draft: Annotated[
        bool,
        typer.Option(
            "--draft",
            help="Write drafts of the contracts that are missing, with the columns, types and keys of the SQL.",
        ),
    ] = False,
    artifact: Annotated[
        Path | None,
        typer.Option(
            "--artifact",
            metavar="FILE",
            help="Write the resolved contracts of the project to one JSON file, unless there is a problem.",
            show_default=False,
        ),
    ] = None,
    output: AnswerFormatOption = AnswerFormat.TEXT,
    config: ConfigOption = None,
) -> None:
    """Show what a run would do.

    Lists the steps by layer, which of them would run and why, incrementally or completely, and every problem.
    """
    from treaty.cli.pipeline_project import open_offline, open_project
    from treaty.cli.registry_connection import requires_extra
    from treaty.errors import InvalidDocument

    with requires_extra("spark"):
        from treaty.cli.pipeline_project import live_plan, offline_plan
        from treaty.cli.render.pipeline_plan import PlanView, print_plan, print_problems
        from treaty.pipeline.plan import select as select_steps
    try:
        if draft:
            _write_drafts(folder, config, output)
            return
        opened = open_offline(folder, config) if offline else open_project(folder, config)
    except InvalidDocument as error:
        if not error.findings:
            raise
        print_problems(error.findings, output)
        raise typer.Exit(ExitCode.FINDINGS) from None
    result = offline_plan(opened) if offline else live_plan(opened)
    steps = {step.table for step in select_steps(result.steps, select or ())}
    name = opened.project.name
    print_plan(PlanView(name, result, frozenset(steps), tuple(lineage or ())), output)
    if result.errors:
        raise typer.Exit(ExitCode.FINDINGS)
    if artifact is not None:
        _write_artifact(opened, name, artifact)


def _write_drafts(folder: Path, config: Path | None, output: AnswerFormat) -> None:
    """Write the drafts and list them, with what is left to decide in each."""
    from treaty.cli.pipeline_project import write_drafts
    from treaty.cli.render.output import print_data

    drafts, problems = write_drafts(folder, config)
    if output is AnswerFormat.JSON:
        listed = [
            {"file": str(file), "contract": str(draft.declared.line), "todo": list(draft.todo)}
            for file, draft in drafts
        ]
        print_data({"drafts": listed, "problems": [problem.as_data() for problem in problems]})
    else:
        _print_drafts(drafts, problems)
    if problems:
        raise typer.Exit(ExitCode.FINDINGS)


def _print_drafts(drafts: Sequence[tuple[Path, Draft]], problems: Sequence[Finding]) -> None:
    from treaty.cli.render.plain_text import printable

    for file, draft in drafts:
        typer.echo(f"wrote {os.path.relpath(file)}")
        for todo in draft.todo:
            typer.echo(f"  to decide: {todo}")
    for problem in problems:
        typer.echo(printable(f"not drafted: {problem.place}: {problem.message}; {problem.hint}"))
    if not problems:
        typer.echo("next: treaty plan" if drafts else "no contract is missing")


def _write_artifact(opened: OpenedProject, name: str, file: Path) -> None:
    """Write the contracts of the project and their policies; the declarations are in the order of their layers."""
    from treaty.cli.pipeline_project import find_policies, stated_contracts
    from treaty.contracts.artifact import ContractUse, write_artifact
    from treaty.errors import Unavailable

    stated, folder = stated_contracts(opened), opened.project.folder
    origins = {line: _relative(origin, folder) for line, origin in opened.contracts.origins.items()}
    uses = [ContractUse(one.name, str(one.line), stated[one.line], origins[one.line]) for one in opened.project]
    try:
        file.write_text(write_artifact(name, uses, find_policies(opened)), encoding="utf-8")
    except OSError as error:
        raise Unavailable(f"cannot write {file}: {error.strerror}") from None
    typer.echo(f"wrote {file}", err=True)


def _relative(origin: str, folder: Path) -> str:
    """Return the file of a contract relative to the project, so that the artifact is the same on every machine."""
    return Path(os.path.relpath(origin, folder)).as_posix() if Path(origin).is_absolute() else origin
