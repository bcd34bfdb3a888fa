"""A migration plan and its guides as Markdown."""

from __future__ import annotations

import re
from pathlib import Path

import typer

from treaty.cli.options import AnswerFormat, PageFormat
from treaty.cli.render.console import screen
from treaty.cli.render.markdown import code, escaped, table
from treaty.cli.render.migration_plan import MARKS, Plan, View, counts, draw_plan, told, verdict
from treaty.cli.render.migration_proof import draw_proof
from treaty.cli.render.printable import visible_lines
from treaty.compatibility.migration import MigrationDirection, Shim
from treaty.compatibility.migration.proof import Proof
from treaty.consumers.migration_guides import Guide
from treaty.contracts.text.writer import write_json
from treaty.errors import Unavailable


def plan_page(plan: Plan) -> str:
    """Return the whole plan."""
    path = plan.path
    parts = [f"# {code(path.before.id)} {code(path.before.version)} → {code(path.after.version)}"]
    parts += [f"✗ {code(name)} is gone: nothing can serve it" for name in path.removed]
    parts += [_shim(view.shim) for view in plan.views]
    parts += [_view(view) for view in plan.views if view.shim.way is MigrationDirection.BACK]
    parts += [escaped(plan.nobody)] if plan.nobody else []
    parts += [guide_page(guide, level=2) for guide in plan.guides]
    return "\n\n".join(parts)


def guide_page(guide: Guide, level: int = 1) -> str:
    """Return the guide of one consumer."""
    title = f"{'#' * level} Guide for {escaped(guide.consumer)}: {escaped(str(guide.before))} → "
    parts = [title + escaped(str(guide.after or "the new version")), f"**{escaped(verdict(guide))}**"]
    parts += ["\n".join(f"- {name}: {escaped(said)}" for name, said in told(guide))]
    if guide.fields:
        rows = [
            (code(one.before), escaped(one.type_before), escaped(one.after_text), escaped("; ".join(one.todo)))
            for one in guide.fields
        ]
        parts.append(table(("before", "type", "after", "what to do"), rows))
    for one in guide.examples if guide.fields else ():
        parts += ["Before:", fenced("sql", one.sql_before), "After:", fenced("sql", one.sql_after)]
        parts += ["The same in PySpark:", fenced("python", one.pyspark_after)]
    return "\n\n".join(part for part in parts if part)


def fenced(language: str, content: str) -> str:
    """Return code between fences that nothing in it can close."""
    fence = "```"
    while fence in content:
        fence += "`"
    return f"{fence}{language}\n{visible_lines(content.rstrip())}\n{fence}"


def _shim(shim: Shim) -> str:
    rows = [
        (
            f"{MARKS[step.fidelity][0]} {step.fidelity}",
            code(str(step.target)),
            ", ".join(code(str(source)) for source in step.sources) or "–",
            escaped(step.reason),
        )
        for step in shim.walk()
        if not step.inside
    ]
    heading = f"## {shim.way.meaning.capitalize()}\n\n{counts(shim)}"
    return f"{heading}\n\n{table(('', 'field', 'made from', 'why'), rows)}"


def _view(view: View) -> str:
    if view.refusal:
        return f"**{escaped(view.refusal)}**"
    return "The old shape as a view over the new line:\n\n" + fenced("sql", view.sql or "")


_ODD = re.compile(r"[^\w.-]+")


def print_plan(plan: Plan, output: PageFormat, folder: Path | None) -> None:
    """Print a plan; with a folder, its views and guides are written there too."""
    match output:
        case PageFormat.JSON:
            typer.echo(write_json(plan.as_data()), nl=False)
        case PageFormat.MARKDOWN:
            typer.echo(plan_page(plan))
        case PageFormat.TEXT:
            with screen() as drawn:
                draw_plan(drawn, plan)
    if folder is not None:
        for file in written(plan, folder):
            typer.echo(f"wrote {file}", err=True)


def print_proof(proof: Proof, output: AnswerFormat) -> None:
    """Print a proof."""
    if output is AnswerFormat.JSON:
        typer.echo(write_json(proof.as_data()), nl=False)
        return
    with screen() as drawn:
        draw_proof(drawn, proof)


def written(plan: Plan, folder: Path) -> list[Path]:
    """Write each view as SQL and PySpark, and each guide as Markdown."""
    texts: dict[Path, str] = {}
    for view in plan.views:
        name = f"{_file_name('.'.join(view.name))}_from_{_file_name(view.source[0])}"
        if view.sql is not None and view.pyspark is not None:
            texts[folder / f"{name}.sql"] = view.sql
            texts[folder / f"{name}.py"] = view.pyspark
    for guide in plan.guides:
        texts[folder / "guides" / f"{_file_name(guide.consumer)}.md"] = guide_page(guide) + "\n"
    try:
        for file, content in texts.items():
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(content, encoding="utf-8")
    except OSError as error:
        raise Unavailable(f"cannot write to {folder}: {error.strerror}; give another folder") from None
    return list(texts)


def _file_name(name: str) -> str:
    return _ODD.sub("_", name).strip(".") or "_"
