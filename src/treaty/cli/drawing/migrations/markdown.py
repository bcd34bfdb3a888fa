"""A migration plan and its guides as Markdown."""

from __future__ import annotations

from treaty.cli.drawing.markdown import code, escaped, table
from treaty.cli.drawing.migrations.guides import told, verdict
from treaty.cli.drawing.migrations.plans import MARKS, Plan, View, counts
from treaty.cli.drawing.visible import visible_lines
from treaty.compatibility.migration import Shim, Way
from treaty.consumers.guide import Guide


def plan_page(plan: Plan) -> str:
    """Return the whole plan."""
    path = plan.path
    parts = [f"# {code(path.before.id)} {code(path.before.version)} → {code(path.after.version)}"]
    parts += [f"✗ {code(name)} is gone: nothing can serve it" for name in path.removed]
    parts += [_shim(view.shim) for view in plan.views]
    parts += [_view(view) for view in plan.views if view.shim.way is Way.BACK]
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
