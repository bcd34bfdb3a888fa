"""Printing plans and proofs, and writing what a plan has made into a folder."""

from __future__ import annotations

import re
from pathlib import Path

import typer

from treaty.cli.drawing.console import screen
from treaty.cli.drawing.migrations.markdown import guide_page, plan_page
from treaty.cli.drawing.migrations.plans import Plan, draw_plan
from treaty.cli.drawing.migrations.proofs import draw_proof
from treaty.cli.options import AnswerFormat, PageFormat
from treaty.compatibility.migration.proof import Proof
from treaty.contracts.writing import write_json
from treaty.errors import Unavailable

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
