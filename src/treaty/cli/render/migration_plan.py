"""Drawing the way over between two versions, with its guides."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from treaty.cli.render.console import text
from treaty.cli.render.tables import facts, listing
from treaty.compatibility.migration import (
    Fidelity,
    MigrationDirection,
    MigrationPath,
    Shim,
    path_as_data,
    pyspark_text,
    view_sql,
)
from treaty.consumers.impact import Effect
from treaty.consumers.migration_guides import Guide, line_table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console


MARKS = {Fidelity.EXACT: ("✓", "good"), Fidelity.LOSSY: ("!", "warning"), Fidelity.IMPOSSIBLE: ("✗", "error")}


@dataclass(frozen=True)
class Plan:
    """A path with its shims as text and its guides; `nobody` says why there are none for named consumers."""

    path: MigrationPath
    guides: tuple[Guide, ...]
    nobody: str | None
    views: tuple[View, ...]

    @property
    def is_blocked(self) -> bool:
        """Whether the old shape cannot be served from the new line."""
        return any(one.refusal for one in self.views if one.shim.way is MigrationDirection.BACK) or bool(
            self.path.removed
        )

    def as_data(self) -> dict[str, Any]:
        """Return the plan as JSON would say it."""
        return {
            **path_as_data(self.path),
            "views": [one.as_data() for one in self.views],
            "guides": [one.as_data() for one in self.guides],
        }


@dataclass(frozen=True)
class View:
    """A shim as text, or why there is none."""

    shim: Shim
    name: tuple[str, ...]
    source: tuple[str, ...]
    sql: str | None
    pyspark: str | None
    refusal: str | None

    def as_data(self) -> dict[str, Any]:
        """Return the view as JSON would say it."""
        return {
            "way": self.shim.way.value,
            "view": ".".join(self.name),
            "source": ".".join(self.source),
            "sql": self.sql,
            "pyspark": self.pyspark,
            "refused": self.refusal,
        }


def views_of(path: MigrationPath) -> tuple[View, ...]:
    """Write both shims of each object, or say why one cannot be."""
    from treaty.errors import Refused

    views = []
    for item in path.objects:
        old, new = line_table(path.before, item.before), line_table(path.after, item.after)
        for shim, name, source in ((item.back, old, new), (item.forward, new, old)):
            try:
                sql, code = view_sql(shim, name, source), pyspark_text(shim, name[0], source)
                views.append(View(shim, name, source, sql, code, None))
            except Refused as refusal:
                views.append(View(shim, name, source, None, None, str(refusal)))
    return tuple(views)


def draw_plan(drawn: Console, plan: Plan) -> None:
    """Draw the way over: how well each shape is served, the view for the old one, and the guides."""
    path = plan.path
    title = text(path.before.id, style="path")
    title.append_text(text(f"  {path.before.version} → {path.after.version}", style="accent"))
    drawn.print(title)
    for name in path.removed:
        drawn.print(text(f"  ✗ {name} is gone: nothing can serve it", style="error"))
    for view in plan.views:
        drawn.print()
        _draw_shim(drawn, view.shim)
    for view in plan.views:
        if view.shim.way is MigrationDirection.BACK:
            drawn.print()
            _draw_view(drawn, view)
    if plan.nobody:
        drawn.print()
        drawn.print(text(plan.nobody, style="quiet"))
    for guide in plan.guides:
        drawn.print()
        draw_guide(drawn, guide)


def counts(shim: Shim) -> str:
    """Say how many fields are served how well."""
    found = Counter(step.fidelity for step in shim.walk() if not step.inside)
    return ", ".join(f"{found[fidelity]} {fidelity}" for fidelity in Fidelity if found[fidelity])


def _draw_shim(drawn: Console, shim: Shim) -> None:
    heading = text(shim.way.meaning.capitalize(), style="path")
    heading.append_text(text(f"  {counts(shim)}", style="quiet"))
    drawn.print(heading)
    rows = []
    for step in shim.walk():
        if step.inside:
            continue
        mark, style = MARKS[step.fidelity]
        sources = ", ".join(map(str, step.sources)) or "–"
        name = text(f"{mark} ", style=style).append_text(text(str(step.target)))
        rows.append(
            (name, text(sources), text(step.fidelity.value, style=style), text(step.reason or "", style="quiet"))
        )
    drawn.print(listing(("  field", "made from", "", "why"), rows))


def _draw_view(drawn: Console, view: View) -> None:
    if view.refusal:
        drawn.print(text(view.refusal, style="error"))
        return
    drawn.print(text("The old shape as a view over the new line", style="path"))
    print_code(drawn, view.sql or "")


def print_code(drawn: Console, code: str) -> None:
    """Print code line by line, unbroken, so that it can be copied."""
    for line in code.rstrip("\n").split("\n"):
        drawn.print(text(f"  {line}"), soft_wrap=True)


def draw_guides(drawn: Console, guides: Sequence[Guide]) -> None:
    """Draw guides one below the other."""
    for place, guide in enumerate(guides):
        if place:
            drawn.print()
        draw_guide(drawn, guide)


_STYLES = {Effect.HIT: "error", Effect.UNKNOWN: "warning", Effect.SAFE: "good"}


def draw_guide(drawn: Console, guide: Guide) -> None:
    """Draw what one consumer has to do: its fields before and after, and the query it can run."""
    title = text(f"Guide for {guide.consumer}", style="path")
    title.append_text(text(f"  {guide.before} → {guide.after or 'the new version'}", style="accent"))
    title.append_text(text(f"  {verdict(guide)}", style=_STYLES[guide.effect]))
    drawn.print(title)
    drawn.print(facts([(name, said) for name, said in told(guide)]))
    if guide.fields:
        rows = [
            (text(f"  {one.before}"), text(one.type_before), text(one.after_text), text("; ".join(one.todo)))
            for one in guide.fields
        ]
        drawn.print(listing(("  before", "", "after", "what to do"), rows))
    for one in guide.examples if guide.fields else ():
        drawn.print(text("  the same from the new line:", style="quiet"))
        for line in one.sql_after.split("\n"):
            drawn.print(text(f"    {line}"), soft_wrap=True)


def verdict(guide: Guide) -> str:
    """Say in a few words what the change means for a consumer."""
    if not guide.subscription.fields_known:
        return "it never said which fields it reads: all of them are listed"
    if not guide.fields:
        return "its fields stay as they are: only the line has a new name"
    asked, read = len(guide.fields), len(guide.fields) + len(guide.unchanged)
    if asked == read:
        return "its field asks for a change" if read == 1 else f"all {read} of its fields ask for a change"
    return f"{asked} of its {read} fields {'asks' if asked == 1 else 'ask'} for a change"


def told(guide: Guide) -> Iterator[tuple[str, str]]:
    """Yield what else a guide says, by name."""
    if guide.by:
        yield "by", f"{guide.by}, when the window of {guide.window} ends"
    elif guide.window:
        yield "within", f"{guide.window} from the day the new line is registered"
    if guide.owner:
        yield "ask", guide.owner
    if guide.link:
        yield "read", guide.link
    if guide.unchanged:
        yield "as before", ", ".join(guide.unchanged)
    if guide.not_there:
        yield "unknown", f"{', '.join(guide.not_there)}: the old line has no such field"
    for said in guide.also:
        yield "also", said
