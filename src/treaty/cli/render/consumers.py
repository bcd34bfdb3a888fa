"""Rendering of subscriptions, dependency graphs, impact and decisions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date

from rich.console import Console
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from treaty.cli.render.console import text
from treaty.cli.render.plain_text import pluralize
from treaty.cli.render.tables import facts, listing
from treaty.contracts.versions import try_parse_version
from treaty.registry.model import (
    AffectedAnswer,
    DataAccessAnswer,
    DecisionAnswer,
    GraphAnswer,
    ImpactAnswer,
    SubscriptionAnswer,
    UsageAnswer,
)

_EFFECTS = {
    "hit": ("✗", "error", "Affected"),
    "unknown": ("!", "warning", "Possibly affected: these have not declared their fields"),
    "warned": ("!", "warning", "To migrate: the line is deprecated"),
    "exposed": ("·", "quiet", "Downstream"),
    "safe": ("✓", "good", "Safe: these read none of the changed fields"),
}
_NOTHING_TO_DO = "Safe: no action needed"
_MUST_ACT = ("hit", "unknown")
"""Effects that require a consumer to act, or to check."""

_FIELD_USAGE: dict[str, str] = {"unread": "declared, not read", "undeclared": "read, not declared"}

_BRIEF = ("exposed", "safe")
"""Effects whose consumers are listed in one line."""


def render_subscriptions(console: Console, subscriptions: Sequence[SubscriptionAnswer]) -> None:
    """Render which consumer reads which line and fields."""
    for subscription in subscriptions:
        title = text(subscription.consumer, style="path").append_text(text(f"  {subscription.line}", style="accent"))
        parts = (
            subscription.consumer_class,
            subscription.team,
            subscription.contact,
            describe_confirmation(subscription.confirmed, subscription.confirm_by),
        )
        about = " · ".join(part for part in parts if part)
        console.print(title)
        rows = [
            ("reads", _fields_read(subscription)),
            ("purpose", text(subscription.purpose or "")),
            ("class", text(about)),
        ]
        console.print(facts([(name, value) for name, value in rows if value]))


def render_contract_consumers(console: Console, subscriptions: Sequence[SubscriptionAnswer], contract: str) -> None:
    """Render the consumers of a contract as a table."""
    console.print(
        listing(
            ("consumer", "line", "class", "contact", "fields"),
            (
                (
                    text(subscription.consumer, style="path"),
                    subscription.line.removeprefix(contract),
                    subscription.consumer_class,
                    subscription.contact or "",
                    _fields_read(subscription),
                )
                for subscription in subscriptions
            ),
        )
    )


def _fields_read(subscription: SubscriptionAnswer) -> Text:
    return text(", ".join(subscription.fields)) if subscription.fields else text("fields not declared", style="warning")


def render_subscription(console: Console, subscription: SubscriptionAnswer) -> None:
    """Render a new subscription."""
    console.print(text(f"{subscription.consumer} reads {subscription.line}", style="path"))
    read = ", ".join(subscription.fields) or "not declared, so no change counts as safe; declare them with --field"
    rows = [("Fields", read), ("Class", subscription.consumer_class)]
    rows += [
        (name, value)
        for name, value in (
            ("Purpose", subscription.purpose),
            ("Latency", subscription.latency),
            ("Contact", subscription.contact),
            ("Team", subscription.team),
        )
        if value
    ]
    console.print(facts([*rows, *(("Warning", text(warning, style="warning")) for warning in subscription.warnings)]))


def describe_confirmation(confirmed: bool, confirm_by: date | None) -> str | None:
    """Describe a subscription that the consumer's own team has not confirmed; None if it has."""
    if confirmed:
        return None
    return "unconfirmed" if confirm_by is None else f"challenged, unconfirmed; counts until {confirm_by}"


def describe_usage(usage: str | None, last_read: date | None) -> str | None:
    """Describe a consumer that reads without a subscription, or that subscribed and does not read; else None."""
    if usage == "unsubscribed":
        return f"reads without a subscription, last on {last_read}"
    if usage == "silent":
        return f"subscribed, not seen reading since {last_read}" if last_read else "subscribed, never seen reading"
    return None


def render_usage(console: Console, usages: Sequence[UsageAnswer]) -> None:
    """Render who was seen reading which line and fields."""
    for usage in usages:
        title = text(usage.consumer, style="path").append_text(text(f"  {usage.line}", style="accent"))
        if mark := describe_usage(usage.usage, usage.last_seen.date()):
            title.append_text(text(f"  {mark}", style="warning"))
        console.print(title)
        rows = [
            ("reads", text(", ".join(usage.fields)) if usage.fields else text("fields not known", style="warning")),
            ("undeclared", text(", ".join(usage.undeclared_fields), style="warning")),
            ("declared, not read", text(", ".join(usage.unread_fields), style="warning")),
            ("seen", text(f"{usage.first_seen:%Y-%m-%d} to {usage.last_seen:%Y-%m-%d}")),
            ("job", text(" · ".join(part for part in (usage.job, usage.team) if part))),
        ]
        console.print(facts([(name, value) for name, value in rows if value]))


def render_accesses(console: Console, accesses: Sequence[DataAccessAnswer]) -> None:
    """Render requests for rows, one block each."""
    for access in accesses:
        title = text(access.consumer or "no consumer", style="path").append_text(
            text(f"  {access.line}", style="accent")
        )
        is_good = access.decision in ("served", "delivered")
        title.append_text(text(f"  {access.decision}", style="quiet" if is_good else "warning"))
        console.print(title)
        published = [access.version, f"run {access.run}" if access.run is not None else None]
        rows = [
            ("at", text(f"{access.at:%Y-%m-%d %H:%M:%S} UTC by {access.actor}")),
            ("rows", text("not known" if access.rows is None else f"{access.rows:,}")),
            ("fields", text(", ".join(access.fields))),
            ("filters", text(", ".join(access.filters))),
            ("purpose", text(access.purpose or "")),
            ("published", text(" · ".join(part for part in published if part))),
        ]
        console.print(facts([(name, value) for name, value in rows if value]))


def render_confirmation(console: Console, subscription: SubscriptionAnswer) -> None:
    """Render whether a subscription is confirmed, and until when it can be."""
    name, line, team = subscription.consumer, subscription.line, subscription.team or subscription.consumer
    if subscription.confirmed:
        console.print(text(f"{name} reads {line}, confirmed by {team}"))
    else:
        until = f"{team} has until {subscription.confirm_by} to confirm it; afterwards it no longer counts"
        console.print(text(f"{name} is challenged on {line}: {until}"))


def render_ended_subscription(console: Console, subscription: SubscriptionAnswer) -> None:
    """Render the end of a subscription."""
    console.print(text(f"{subscription.consumer} no longer reads {subscription.line}"))


def render_graph(console: Console, graph: GraphAnswer) -> None:
    """Render a dependency graph as a tree of shortest paths."""
    relation = "depends on" if graph.direction == "upstream" else "is used by"
    if not graph.nodes:
        empty = "depends on nothing" if graph.direction == "upstream" else "is used by nothing"
        console.print(text(f"{graph.node} {empty}"))
        return
    title = text(graph.node, style="path").append_text(text(f"  {relation}", style="quiet"))
    root = Tree(title, guide_style="quiet")
    branches: dict[str, Tree] = {graph.node: root}
    for map_node in sorted(graph.nodes, key=lambda node: node.distance):
        above = branches.get(map_node.path[-2] if len(map_node.path) > 1 else graph.node, root)
        label = text(map_node.name, style="accent" if map_node.kind == "line" else "")
        if map_node.kind == "consumer":
            label.append_text(text("  consumer", style="quiet"))
        if usage := describe_usage(map_node.usage, map_node.last_read):
            label.append_text(text(f"  {usage}", style="warning"))
        branches[map_node.name] = above.add(label)
    console.print(root)
    console.print()
    total = len(graph.nodes) + graph.more
    hidden = f", {graph.more:,} not shown" if graph.more else ""
    console.print(text(f"{pluralize(total, 'node')}{hidden}", style="quiet"))


def render_impact(console: Console, impact: ImpactAnswer) -> None:
    """Render which consumers a change affects, by field."""
    title = text(impact.contract, style="path")
    title.append_text(text(f"  {impact.before or 'nothing'} → {impact.after}", style="accent"))
    console.print(title)
    console.print()
    render_affected(console, impact.affected, impact.more, impact.hidden)
    if not impact.affected and not impact.hidden:
        console.print(text(f"  no consumers of {impact.line}"))
    if impact.required_version and _is_below(impact.after, impact.required_version):
        console.print(
            facts([("Version", f"these changes require {impact.required_version}; {impact.after} is declared")])
        )


def _is_below(declared: str, required: str) -> bool:
    """Return whether a version is too low; a version in another notation always is."""
    version, minimum = try_parse_version(declared), try_parse_version(required)
    return minimum is not None and (version is None or version < minimum)


def render_decision(console: Console, decision: DecisionAnswer) -> None:
    """Render yes or no with every reason."""
    answer = text("yes", style="good") if decision.answer else text("no", style="error")
    console.print(text(f"{decision.question}  ", style="path").append_text(answer))
    grid = Table.grid(padding=(0, 2), pad_edge=True)
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold", ratio=1)
    affected = [consumer for consumer in decision.affected if consumer.reasons or consumer.effect in _BRIEF]
    named = {f"{consumer.kind}_{consumer.effect}" for consumer in affected}
    reasons = [one for one in decision.reasons if one.kind not in named]
    for finding in sorted(reasons, key=lambda reason: reason.severity):
        mark, style = ("✗", "error") if finding.severity == "error" else ("!", "warning")
        grid.add_row(text(mark, style=style), text(finding.message))
    if reasons:
        console.print(grid)
    if affected:
        console.print()
        render_affected(console, affected, hidden=decision.hidden)


def render_affected(console: Console, affected: Sequence[AffectedAnswer], more: int = 0, hidden: int = 0) -> None:
    """Render the consumers by effect, affected ones first."""
    breaks = any(consumer.effect in _MUST_ACT for consumer in affected)
    for effect, (mark, style, heading) in _EFFECTS.items():
        group = [consumer for consumer in affected if consumer.effect == effect]
        if not group:
            continue
        if effect == "safe" and not breaks:  # undeclared fields are safe only if nothing breaks
            heading = _NOTHING_TO_DO
        console.print(text(f"{heading} ({len(group)})", style=style))
        if effect in _BRIEF:
            console.print(facts([("", ", ".join(consumer.name for consumer in group))]))
        else:
            console.print(_affected_grid(group, mark, style))
        console.print()
    if more:
        console.print(text(f"and {more:,} more", style="quiet"))
    if hidden:
        console.print(text(f"and {pluralize(hidden, 'consumer')} you may not see", style="quiet"))


def contacts_of(affected: Sequence[AffectedAnswer]) -> list[str]:
    """Return the contacts of consumers that are or may be affected."""
    contacts = [consumer.contact for consumer in affected if consumer.contact and consumer.effect in _MUST_ACT]
    return list(dict.fromkeys(contacts))


def _affected_grid(group: Sequence[AffectedAnswer], mark: str, style: str) -> Table:
    grid = Table.grid(padding=(0, 2), pad_edge=True)
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold", ratio=1)
    for consumer in group:
        grid.add_row(text(mark, style=style), _affected_text(consumer))
    return grid


_DIRECT = 2  # the length of the path from a line to its own consumer


def _affected_text(affected: AffectedAnswer) -> Text:
    entry = text(affected.name, style="path")
    about = " · ".join(_about(affected))
    entry.append_text(text(f"  {about}" if about else "", style="quiet"))
    if affected.fields:
        reads = ("reads" if len(affected.path) <= _DIRECT else "depends on") if affected.effect == "hit" else "may read"
        entry.append("\n").append_text(text(f"{reads} ")).append_text(_fields_text(affected))
    for reason in affected.reasons if affected.effect == "hit" else ():
        entry.append("\n").append_text(text(reason, style="quiet"))
    return entry


def _fields_text(affected: AffectedAnswer) -> Text:
    """Return the changed fields, with a mark on those of which the observed usage differs from the subscription."""
    fields = []
    for field in affected.fields:
        usage = affected.usage_of_field(field)
        fields.append(text(field).append_text(text(f" ({_FIELD_USAGE[usage]})" if usage else "", style="warning")))
    return Text(", ").join(fields)


def _about(affected: AffectedAnswer) -> Iterator[str]:
    if len(affected.path) > _DIRECT:
        yield f"through {' → '.join(affected.path[1:-1])}"
    elif affected.kind == "line":
        yield "derived from it"
    if affected.consumer_class:
        yield affected.consumer_class
    if affected.critical:
        yield "critical"
    if unconfirmed := describe_confirmation(affected.confirmed, affected.confirm_by):
        yield unconfirmed
    if usage := describe_usage(affected.usage, affected.last_read):
        yield usage
    if affected.contact:
        yield affected.contact
