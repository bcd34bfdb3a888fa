"""Migration plans and proofs as Markdown, JSON and files."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from treaty.cli.options import AnswerFormat, PageFormat
from treaty.cli.render.console import print_to_console, text
from treaty.cli.render.markdown import code, escape_markdown, table
from treaty.cli.render.migrations import MARKS, Plan, View, counts, guide_facts, guide_verdict, render_plan
from treaty.cli.render.plain_text import pluralize, printable_lines
from treaty.cli.render.tables import listing
from treaty.compatibility.migration import MigrationDirection, Shim
from treaty.compatibility.migration.proof import FieldProof, Proof, ShimProof
from treaty.consumers.migration_guides import Guide
from treaty.contracts.text.writer import write_json
from treaty.errors import Unavailable

if TYPE_CHECKING:
    from rich.console import Console


def plan_as_markdown(plan: Plan) -> str:
    """Return a plan as Markdown."""
    path = plan.path
    parts = [f"# {code(path.before.id)} {code(path.before.version)} → {code(path.after.version)}"]
    parts += [f"✗ {code(name)} was removed and cannot be served" for name in path.removed]
    parts += [_shim(view.shim) for view in plan.views]
    parts += [_view(view) for view in plan.views if view.shim.way is MigrationDirection.BACK]
    parts += [escape_markdown(plan.note)] if plan.note else []
    parts += [guide_as_markdown(guide, level=2) for guide in plan.guides]
    return "\n\n".join(parts)


def guide_as_markdown(guide: Guide, level: int = 1) -> str:
    """Return the guide of one consumer as Markdown."""
    title = f"{'#' * level} Guide for {escape_markdown(guide.consumer)}: {escape_markdown(str(guide.before))} → "
    parts = [
        title + escape_markdown(str(guide.after or "the new version")),
        f"**{escape_markdown(guide_verdict(guide))}**",
    ]
    parts += ["\n".join(f"- {name}: {escape_markdown(guide_fact)}" for name, guide_fact in guide_facts(guide))]
    if guide.fields:
        rows = [
            (
                code(field.before),
                escape_markdown(field.type_before),
                escape_markdown(field.after_text),
                escape_markdown("; ".join(field.todo)),
            )
            for field in guide.fields
        ]
        parts.append(table(("before", "type", "after", "to do"), rows))
    for example in guide.examples if guide.fields else ():
        parts += ["Before:", fenced("sql", example.sql_before), "After:", fenced("sql", example.sql_after)]
        parts += ["The same in PySpark:", fenced("python", example.pyspark_after)]
    return "\n\n".join(part for part in parts if part)


def fenced(language: str, content: str) -> str:
    """Return code in a fence that is longer than any in the code."""
    fence = "```"
    while fence in content:
        fence += "`"
    return f"{fence}{language}\n{printable_lines(content.rstrip())}\n{fence}"


def _shim(shim: Shim) -> str:
    rows = [
        (
            f"{MARKS[step.fidelity][0]} {step.fidelity}",
            code(str(step.target)),
            ", ".join(code(str(source)) for source in step.sources) or "–",
            escape_markdown(step.reason),
        )
        for step in shim.walk()
        if not step.inside
    ]
    heading = f"## {shim.way.meaning.capitalize()}\n\n{counts(shim)}"
    return f"{heading}\n\n{table(('', 'field', 'computed from', 'reason'), rows)}"


def _view(view: View) -> str:
    if view.refusal:
        return f"**{escape_markdown(view.refusal)}**"
    return "The old schema as a view on the new line:\n\n" + fenced("sql", view.sql or "")


_NOT_FILE_NAME = re.compile(r"[^\w.-]+")


def print_plan(plan: Plan, output: PageFormat, folder: Path | None) -> None:
    """Print a plan, and write its views and guides to a folder if one is given."""
    match output:
        case PageFormat.JSON:
            typer.echo(write_json(plan.as_data()), nl=False)
        case PageFormat.MARKDOWN:
            typer.echo(plan_as_markdown(plan))
        case PageFormat.TEXT:
            with print_to_console() as console:
                render_plan(console, plan)
    if folder is not None:
        for file in write_files(plan, folder):
            typer.echo(f"wrote {file}", err=True)


def print_proof(proof: Proof, output: AnswerFormat) -> None:
    """Print a proof."""
    if output is AnswerFormat.JSON:
        typer.echo(write_json(proof.as_data()), nl=False)
        return
    with print_to_console() as console:
        render_proof(console, proof)


def write_files(plan: Plan, folder: Path) -> list[Path]:
    """Write each view as SQL and PySpark, and each guide as Markdown."""
    texts: dict[Path, str] = {}
    for view in plan.views:
        name = f"{_file_name('.'.join(view.name))}_from_{_file_name(view.source[0])}"
        if view.sql is not None and view.pyspark is not None:
            texts[folder / f"{name}.sql"] = view.sql
            texts[folder / f"{name}.py"] = view.pyspark
    for guide in plan.guides:
        texts[folder / "guides" / f"{_file_name(guide.consumer)}.md"] = guide_as_markdown(guide) + "\n"
    try:
        for file, content in texts.items():
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(content, encoding="utf-8")
    except OSError as error:
        raise Unavailable(f"cannot write to {folder}: {error.strerror}; choose another folder") from None
    return list(texts)


def _file_name(name: str) -> str:
    return _NOT_FILE_NAME.sub("_", name).strip(".") or "_"


def render_proof(console: Console, proof: Proof) -> None:
    """Render a proof: both directions field by field, and whether the path is proven."""
    title = text(proof.before.id, style="path")
    title.append_text(text(f"  {proof.before.version} → {proof.after.version}", style="accent"))
    console.print(title)
    for shim in proof.shims:
        console.print()
        _render_shim(console, shim)
    console.print()
    if proof.holds:
        console.print(
            text(
                "✓ proven: exact fields returned unchanged; differences in lossy fields are counted above", style="good"
            )
        )
        return
    console.print(text("✗ not proven:", style="error"))
    for shim, field in proof.failures:
        console.print(text(f"  {field.field}: {_describe_failure(field)} ({shim.way.meaning})", style="error"))
    for shim in proof.shims:
        if shim.blocked and not shim.holds:
            problem = f"  {', '.join(shim.blocked)} cannot be computed, so there is no view of {shim.way.meaning}"
            console.print(text(problem, style="error"))


def _render_shim(console: Console, shim: ShimProof) -> None:
    heading = text(f"{shim.way.meaning.capitalize()}", style="path")
    console.print(heading)
    if shim.rows is None:
        console.print(text(f"  not run: {', '.join(shim.blocked)} cannot be computed", style="quiet"))
    else:
        left_out = shim.rows.given - shim.rows.used
        summary = f"  {pluralize(shim.rows.used, 'row')} of {shim.rows.line}, {shim.rows.origin}"
        summary += f"; {pluralize(left_out, 'invalid row')} left out" if left_out else ""
        summary += f"; {shim.conforming:,} valid after conversion"
        console.print(text(summary, style="quiet"))
    rows = []
    for field in shim.fields:
        mark, style = MARKS[field.fidelity]
        mark, style = (mark, style) if field.holds else ("✗", "error")
        name = text(f"{mark} ", style=style).append_text(text(field.field))
        rows.append(
            (name, text(field.fidelity.value, style=style), _format_number(field.broken), _format_differences(field))
        )
    console.print(listing(("  field", "", "invalid", "changed by the round trip"), rows))


def _format_number(amount: int | None) -> str:
    return "–" if amount is None else f"{amount:,}"


def _format_differences(field: FieldProof) -> str:
    return _format_number(field.differing) + ("" if field.differing is None or field.must_return else " (allowed)")


def _describe_failure(field: FieldProof) -> str:
    if field.broken and field.fidelity == "exact":
        return f"declared exact, but {pluralize(field.broken, 'row')} violate the contract"
    return f"declared exact in both directions, but {pluralize(field.differing or 0, 'row')} returned different"
