"""`treaty diff`: what changed between two versions, what it breaks, and which version it requires."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from treaty.cli.exit_codes import ExitCode
from treaty.cli.options import ConfigOption, FormatOption, ModeOption, OutputFormat, SemanticsOption

if TYPE_CHECKING:
    from pathlib import Path

    from treaty.compatibility import Changes, Verdict
    from treaty.contracts import LoadedContract


def diff(
    before: Annotated[
        str, typer.Argument(metavar="BEFORE", help="A contract file, git:REF:path, or - for standard input.")
    ],
    after: Annotated[str, typer.Argument(metavar="AFTER", help="The same contract after the change.")],
    version_only: Annotated[
        bool, typer.Option("--version-only", help="Print only the version that the change requires, for scripts.")
    ] = False,
    mode: ModeOption = None,
    semantics: SemanticsOption = None,
    output: FormatOption = OutputFormat.TEXT,
    config: ConfigOption = None,
) -> None:
    """Compare two versions of a contract.

    Shows what changed, what breaks, which version the change requires, and what to do next.
    """
    from treaty.cli.render.verdict import print_required_version, print_verdict
    from treaty.compatibility import suggest_renames
    from treaty.compatibility.finding_places import locate_findings

    if version_only and output not in (OutputFormat.TEXT, OutputFormat.JSON):
        raise typer.BadParameter("--version-only prints text or JSON")
    verdict, old, new = _judge(before, after, mode, semantics, config)
    if version_only:
        print_required_version(verdict, before, output)
        return
    findings = () if verdict.is_unchanged else locate_findings(verdict, old, new)
    print_verdict(verdict, findings, suggest_renames(old.contract, new.contract), output)
    if not verdict.admissible and not verdict.is_unchanged:
        raise typer.Exit(ExitCode.FINDINGS)


def _judge(
    before: str, after: str, mode: str | None, semantics: str | None, config: Path | None
) -> tuple[Verdict, LoadedContract, LoadedContract]:
    """Load both documents and judge the change with the settings of the project."""
    from treaty.cli.inputs import STANDARD_INPUT, load_selected, read_reference
    from treaty.compatibility import Semantics, judge, parse_mode, parse_semantics
    from treaty.settings import load_settings

    if before == after == STANDARD_INPUT:
        raise typer.BadParameter("only one of the two documents can come from standard input")
    settings = load_settings(config)
    old_source, new_source = (read_reference(one, settings.limits) for one in (before, after))
    old_contracts = load_selected(*old_source, settings.limits)
    new_contracts = load_selected(*new_source, settings.limits)
    new_contracts = _name_alike(old_contracts, new_contracts, before, after)
    changes, old, new = _compare(old_contracts, new_contracts, after)
    asked = parse_mode(mode) if mode else settings.mode()
    rules = parse_semantics(semantics) if semantics else Semantics.CONTRACT
    if rules.compares_schemas:
        from treaty.cli.schema_comparison import judge_documents

        documents = (old_source[0], old_contracts), (new_source[0], new_contracts)
        return judge_documents(changes, asked, rules, *documents), old, new
    return judge(changes, asked, settings.grading(), rules), old, new


def _name_alike(old: list[LoadedContract], new: list[LoadedContract], before: str, after: str) -> list[LoadedContract]:
    """Return the new contracts; if both schemas are only named after their files, the new one takes the old name."""
    from dataclasses import replace

    if not (len(old) == len(new) == 1 and _has_file_name(old[0], before) and _has_file_name(new[0], after)):
        return new
    name = old[0].contract.id
    (item,) = new[0].contract.schema
    return [replace(new[0], contract=replace(new[0].contract, id=name, objects=(replace(item, name=name),)))]


def _has_file_name(loaded: LoadedContract, reference: str) -> bool:
    """Whether a JSON Schema or Spark schema states no name, and is named after its file."""
    from treaty.contracts.model import Form

    contract, path = loaded.contract, reference.replace("\\", "/").replace(":", "/")
    is_schema = contract.form is Form.SCHEMA and path.lower().endswith((".json", ".schema.yaml", ".schema.yml"))
    names = {item.name for item in contract.schema}
    return is_schema and names == {contract.id} and path.rpartition("/")[2].startswith(f"{contract.id}.")


def _compare(
    before: list[LoadedContract], after: list[LoadedContract], name: str
) -> tuple[Changes, LoadedContract, LoadedContract]:
    """Compare two contracts or, if a file has several tables or messages, all of them as one contract."""
    from dataclasses import replace

    from treaty.compatibility import diff as diff_contracts
    from treaty.compatibility import diff_files

    if len(before) == len(after) == 1:
        return diff_contracts(before[0].contract, after[0].contract), before[0], after[0]
    changes = diff_files([one.contract for one in before], [one.contract for one in after], name)
    return changes, replace(before[0], contract=changes.before), replace(after[0], contract=changes.after)
