"""Migrations on the console: plans with views and guides, and the progress of migrations in a registry."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console

from treaty.cli.render.console import text
from treaty.cli.render.tables import facts, format_date, listing
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
from treaty.registry.model import BoardAnswer, MigrationAnswer

MARKS = {Fidelity.EXACT: ("✓", "good"), Fidelity.LOSSY: ("!", "warning"), Fidelity.IMPOSSIBLE: ("✗", "error")}


@dataclass(frozen=True)
class Plan:
    """A migration path with its views and guides; `note` explains a guide for unknown consumers."""

    path: MigrationPath
    guides: tuple[Guide, ...]
    note: str | None
    views: tuple[View, ...]

    @property
    def is_blocked(self) -> bool:
        """Whether the old schema cannot be served from the new line."""
        return any(view.refusal for view in self.views if view.shim.way is MigrationDirection.BACK) or bool(
            self.path.removed
        )

    def as_data(self) -> dict[str, Any]:
        """Return the plan as plain data."""
        return {
            **path_as_data(self.path),
            "views": [view.as_data() for view in self.views],
            "guides": [guide.as_data() for guide in self.guides],
        }


@dataclass(frozen=True)
class View:
    """One direction of a path as SQL and PySpark, or the reason why it cannot be computed."""

    shim: Shim
    name: tuple[str, ...]
    source: tuple[str, ...]
    sql: str | None
    pyspark: str | None
    refusal: str | None

    def as_data(self) -> dict[str, Any]:
        """Return the view as plain data."""
        return {
            "way": self.shim.way.value,
            "view": ".".join(self.name),
            "source": ".".join(self.source),
            "sql": self.sql,
            "pyspark": self.pyspark,
            "refused": self.refusal,
        }


def views_of(path: MigrationPath) -> tuple[View, ...]:
    """Return the views of each object in both directions."""
    from treaty.errors import Refused

    views = []
    for object_path in path.objects:
        old, new = line_table(path.before, object_path.before), line_table(path.after, object_path.after)
        for shim, name, source in ((object_path.back, old, new), (object_path.forward, new, old)):
            try:
                sql, code = view_sql(shim, name, source), pyspark_text(shim, name[0], source)
                views.append(View(shim, name, source, sql, code, None))
            except Refused as refusal:
                views.append(View(shim, name, source, None, None, str(refusal)))
    return tuple(views)


def render_plan(console: Console, plan: Plan) -> None:
    """Render a plan: the fidelity of each field, the view of the old schema, and the guides."""
    path = plan.path
    title = text(path.before.id, style="path")
    title.append_text(text(f"  {path.before.version} → {path.after.version}", style="accent"))
    console.print(title)
    for name in path.removed:
        console.print(text(f"  ✗ {name} was removed and cannot be served", style="error"))
    for view in plan.views:
        console.print()
        _render_shim(console, view.shim)
    for view in plan.views:
        if view.shim.way is MigrationDirection.BACK:
            console.print()
            _render_view(console, view)
    if plan.note:
        console.print()
        console.print(text(plan.note, style="quiet"))
    for guide in plan.guides:
        console.print()
        render_guide(console, guide)


def counts(shim: Shim) -> str:
    """Count the fields by fidelity."""
    numbers = Counter(step.fidelity for step in shim.walk() if not step.inside)
    return ", ".join(f"{numbers[fidelity]} {fidelity}" for fidelity in Fidelity if numbers[fidelity])


def _render_shim(console: Console, shim: Shim) -> None:
    heading = text(shim.way.meaning.capitalize(), style="path")
    heading.append_text(text(f"  {counts(shim)}", style="quiet"))
    console.print(heading)
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
    console.print(listing(("  field", "computed from", "", "reason"), rows))


def _render_view(console: Console, view: View) -> None:
    if view.refusal:
        console.print(text(view.refusal, style="error"))
        return
    console.print(text("The old schema as a view on the new line", style="path"))
    print_code(console, view.sql or "")


def print_code(console: Console, code: str) -> None:
    """Print code without wrapping, so that it can be copied."""
    for line in code.rstrip("\n").split("\n"):
        console.print(text(f"  {line}"), soft_wrap=True)


def render_guides(console: Console, guides: Sequence[Guide]) -> None:
    """Render several guides."""
    for place, guide in enumerate(guides):
        if place:
            console.print()
        render_guide(console, guide)


_EFFECT_STYLES = {Effect.HIT: "error", Effect.UNKNOWN: "warning", Effect.SAFE: "good"}


def render_guide(console: Console, guide: Guide) -> None:
    """Render what one consumer has to do: its fields before and after, and an example query."""
    title = text(f"Guide for {guide.consumer}", style="path")
    title.append_text(text(f"  {guide.before} → {guide.after or 'the new version'}", style="accent"))
    title.append_text(text(f"  {guide_verdict(guide)}", style=_EFFECT_STYLES[guide.effect]))
    console.print(title)
    console.print(facts(guide_facts(guide)))
    if guide.fields:
        rows = [
            (text(f"  {field.before}"), text(field.type_before), text(field.after_text), text("; ".join(field.todo)))
            for field in guide.fields
        ]
        console.print(listing(("  before", "", "after", "to do"), rows))
    for example in guide.examples if guide.fields else ():
        console.print(text("  the same query on the new line:", style="quiet"))
        for line in example.sql_after.split("\n"):
            console.print(text(f"    {line}"), soft_wrap=True)


def guide_verdict(guide: Guide) -> str:
    """Summarize what the change means for a consumer."""
    if not guide.subscription.fields_known:
        return "it has not declared its fields: all fields are listed"
    if not guide.fields:
        return "its fields do not change; only the line has a new name"
    changed, read = len(guide.fields), len(guide.fields) + len(guide.unchanged)
    if changed == read:
        return "its field changes" if read == 1 else f"all {read} of its fields change"
    return f"{changed} of its {read} fields {'changes' if changed == 1 else 'change'}"


def guide_facts(guide: Guide) -> Iterator[tuple[str, str]]:
    """Yield the other facts of a guide with their names."""
    if guide.by:
        yield "until", f"{guide.by}, the end of the window of {guide.window}"
    elif guide.window:
        yield "within", f"{guide.window} from the day the new line is registered"
    if guide.owner:
        yield "owner", guide.owner
    if guide.link:
        yield "guide", guide.link
    if guide.unchanged:
        yield "unchanged", ", ".join(guide.unchanged)
    if guide.not_there:
        yield "unknown", f"{', '.join(guide.not_there)}: the old line has no such field"
    for remark in guide.also:
        yield "also", remark


_STATE_STYLES = {"waiting": "warning", "acknowledged": "accent", "moved": "good", "waived": "quiet"}
_STATES = {"proposed": "warning", "open": "accent", "closed": "good", "withdrawn": "quiet"}


def render_migrations(console: Console, migrations: Sequence[MigrationAnswer]) -> None:
    """Render migrations with the number of consumers in each state."""
    rows = [
        (
            str(migration.id),
            f"{migration.before} → {migration.after}",
            text(migration.state, style=_STATES[migration.state]),
            format_date(migration.ends_on),
            ", ".join(f"{number} {state}" for state, number in migration.counts.items()),
            "" if migration.proven is None else "proven" if migration.proven else "not proven",
            migration.owner or "",
        )
        for migration in migrations
    ]
    console.print(listing(("id", "lines", "state", "ends", "consumers", "proof", "owner"), rows))


def render_migration(console: Console, board: BoardAnswer) -> None:
    """Render one migration with its dates and the state of each consumer."""
    title = text(f"migration {board.id}", style="path")
    title.append_text(text(f"  {board.before} → {board.after}", style="accent"))
    title.append_text(text(f"  {board.state}", style=_STATES[board.state]))
    console.print(title)
    console.print(facts(list(_facts(board))))
    rows = [
        (
            text(consumer.state, style=_STATE_STYLES[consumer.state]),
            consumer.consumer,
            consumer.consumer_class + (" · critical" if consumer.critical else ""),
            consumer.effect,
            " · ".join(
                part
                for part in (
                    f"reads {consumer.via}: to acknowledge only" if consumer.via else "",
                    consumer.reason or "",
                    f"until {consumer.until}" if consumer.until else "",
                )
                if part
            ),
        )
        for consumer in board.consumers
    ]
    if rows:
        console.print(listing(("", "consumer", "class", "effect", ""), rows))
    else:
        console.print(text("  the old line has no consumers", style="quiet"))


def _facts(board: BoardAnswer) -> Iterator[tuple[str, str]]:
    yield "versions", f"{board.before_version} → {board.after_version}"
    if board.window:
        ends = f", until {board.ends_on}" if board.ends_on else ""
        yield "window", f"{board.window}{ends}"
    if board.owner:
        yield "owner", board.owner
    if board.guide:
        yield "guide", board.guide
    if board.proof is not None:
        yield "proof", f"{'proven' if board.proven else 'not proven'} on {str(board.proof.get('at', ''))[:10]}"
    if board.state == "proposed":
        yield "waiting for", ", ".join(board.missing) or f"approval: treaty proposal approve {board.proposal}"
    if board.missing:
        yield "next", f"treaty migrate acknowledge {board.id} {board.missing[0]}"
