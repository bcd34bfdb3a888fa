"""Drawing consumers: who reads what, who depends on whom, and what a change means for each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from treaty.cli.render.console import text
from treaty.cli.render.tables import facts, listing
from treaty.contracts.versions import try_parse_version
from treaty.registry.model import AffectedAnswer, DecisionAnswer, GraphAnswer, ImpactAnswer, SubscriptionAnswer

_EFFECTS = {
    "hit": ("✗", "error", "Hit by this change"),
    "unknown": ("!", "warning", "Perhaps hit: they never said which fields they read"),
    "exposed": ("·", "quiet", "Further down"),
    "safe": ("✓", "good", "Safe: they read none of the changed fields"),
}
_NOTHING_ASKED = "Safe: the change asks nothing of them"
_ASKED = ("hit", "unknown")
"""Effects of which a consumer has to know."""

_BRIEF = ("exposed", "safe")
"""Effects whose consumers are named in one line."""


def draw_subscriptions(drawn: Console, subscriptions: Sequence[SubscriptionAnswer]) -> None:
    """Draw who reads which line, and which of its fields."""
    for one in subscriptions:
        title = text(one.consumer, style="path").append_text(text(f"  {one.line}", style="accent"))
        about = " · ".join(part for part in (one.consumer_class, one.team, one.contact) if part)
        drawn.print(title)
        said = [("reads", _fields_read(one)), ("for", text(one.purpose or "")), ("who", text(about))]
        drawn.print(facts([(name, what) for name, what in said if what]))


def draw_readers(drawn: Console, subscriptions: Sequence[SubscriptionAnswer], contract: str) -> None:
    """Draw who reads a contract, as a table."""
    drawn.print(
        listing(
            ("consumer", "line", "class", "contact", "fields"),
            (
                (
                    text(one.consumer, style="path"),
                    one.line.removeprefix(contract),
                    one.consumer_class,
                    one.contact or "",
                    _fields_read(one),
                )
                for one in subscriptions
            ),
        )
    )


def _fields_read(one: SubscriptionAnswer) -> Text:
    return text(", ".join(one.fields)) if one.fields else text("unknown fields", style="warning")


def draw_subscription(drawn: Console, one: SubscriptionAnswer) -> None:
    """Draw what a consumer declared."""
    drawn.print(text(f"{one.consumer} reads {one.line}", style="path"))
    read = ", ".join(one.fields) or "unknown, so no change is taken to be safe for it; name them with --field"
    said = [("Fields", read), ("Class", one.consumer_class)]
    said += [
        (name, value)
        for name, value in (
            ("Purpose", one.purpose),
            ("Latency", one.latency),
            ("Contact", one.contact),
            ("Team", one.team),
        )
        if value
    ]
    drawn.print(facts([*said, *(("Warning", text(warning, style="warning")) for warning in one.warnings)]))


def draw_ended(drawn: Console, one: SubscriptionAnswer) -> None:
    """Draw that a consumer left."""
    drawn.print(text(f"{one.consumer} no longer reads {one.line}"))


def draw_graph(drawn: Console, graph: GraphAnswer) -> None:
    """Draw who rests on a node, or what it rests on, as a tree of the shortest ways."""
    said = "rests on" if graph.direction == "upstream" else "is what these rest on"
    if not graph.nodes:
        nothing = "rests on nothing" if graph.direction == "upstream" else "has nobody resting on it"
        drawn.print(text(f"{graph.node} {nothing}"))
        return
    title = text(graph.node, style="path").append_text(text(f"  {said}", style="quiet"))
    root = Tree(title, guide_style="quiet")
    branches: dict[str, Tree] = {graph.node: root}
    for one in sorted(graph.nodes, key=lambda node: node.distance):
        above = branches.get(one.path[-2] if len(one.path) > 1 else graph.node, root)
        label = text(one.name, style="accent" if one.kind == "line" else "")
        if one.kind == "consumer":
            label.append_text(text("  consumer", style="quiet"))
        branches[one.name] = above.add(label)
    drawn.print(root)
    drawn.print()
    total = len(graph.nodes) + graph.more
    left = f", {graph.more:,} of them not shown" if graph.more else ""
    drawn.print(text(f"{total:,} reached{left}", style="quiet"))


def draw_impact(drawn: Console, impact: ImpactAnswer) -> None:
    """Draw whom a change hits, by field."""
    title = text(impact.contract, style="path")
    title.append_text(text(f"  {impact.before or 'nothing'} → {impact.after}", style="accent"))
    drawn.print(title)
    drawn.print()
    draw_affected(drawn, impact.affected, impact.more)
    if not impact.affected:
        drawn.print(text(f"  nobody depends on {impact.line}"))
    if impact.required_version and _is_below(impact.after, impact.required_version):
        drawn.print(facts([("Version", f"these changes need {impact.required_version}; {impact.after} is declared")]))


def _is_below(declared: str, required: str) -> bool:
    """Tell whether a version is too small; one of another notation is never enough."""
    said, needed = try_parse_version(declared), try_parse_version(required)
    return needed is not None and (said is None or said < needed)


def draw_decision(drawn: Console, decision: DecisionAnswer) -> None:
    """Draw yes or no, with every reason."""
    answer = text("yes", style="good") if decision.answer else text("no", style="error")
    drawn.print(text(f"{decision.question}  ", style="path").append_text(answer))
    grid = Table.grid(padding=(0, 2), pad_edge=True)
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold", ratio=1)
    told = [one for one in decision.affected if one.reasons or one.effect in _BRIEF]
    named = {f"{one.kind}_{one.effect}" for one in told}
    reasons = [one for one in decision.reasons if one.kind not in named]
    for one in sorted(reasons, key=lambda reason: reason.severity):
        mark, style = ("✗", "error") if one.severity == "error" else ("!", "warning")
        grid.add_row(text(mark, style=style), text(one.message))
    if reasons:
        drawn.print(grid)
    if told:
        drawn.print()
        draw_affected(drawn, told)


def draw_affected(drawn: Console, affected: Sequence[AffectedAnswer], more: int = 0) -> None:
    """Draw what a change means for each who depends on it, those who are hit first."""
    breaks = any(one.effect in _ASKED for one in affected)
    for effect, (mark, style, heading) in _EFFECTS.items():
        group = [one for one in affected if one.effect == effect]
        if not group:
            continue
        if effect == "safe" and not breaks:  # fields that nobody named are safe only where nothing breaks
            heading = _NOTHING_ASKED
        drawn.print(text(f"{heading} ({len(group)})", style=style))
        if effect in _BRIEF:
            drawn.print(facts([("", ", ".join(one.name for one in group))]))
        else:
            drawn.print(_affected_grid(group, mark, style))
        drawn.print()
    if more:
        drawn.print(text(f"and {more:,} more that are not listed", style="quiet"))


def contacts_of(affected: Sequence[AffectedAnswer]) -> list[str]:
    """Return where those who are hit, or may be, can be reached."""
    reached = [one.contact for one in affected if one.contact and one.effect in _ASKED]
    return list(dict.fromkeys(reached))


def _affected_grid(group: Sequence[AffectedAnswer], mark: str, style: str) -> Table:
    grid = Table.grid(padding=(0, 2), pad_edge=True)
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold", ratio=1)
    for one in group:
        grid.add_row(text(mark, style=style), _affected_text(one))
    return grid


def _affected_text(one: AffectedAnswer) -> Text:
    said = text(one.name, style="path")
    about = " · ".join(_about(one))
    said.append_text(text(f"  {about}" if about else "", style="quiet"))
    if one.fields:
        reads = "reads" if one.effect == "hit" else "may read"
        said.append("\n").append_text(text(f"{reads} {', '.join(one.fields)}"))
    for reason in one.reasons if one.effect == "hit" else ():
        said.append("\n").append_text(text(reason, style="quiet"))
    return said


def _about(one: AffectedAnswer) -> Iterator[str]:
    if one.kind == "line":
        yield "made from it"
    if one.consumer_class:
        yield one.consumer_class
    if one.critical:
        yield "critical"
    if one.contact:
        yield one.contact
