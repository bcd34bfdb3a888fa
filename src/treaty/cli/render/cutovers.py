"""Rendering of legacy feeds and of the cut-over of their consumers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from treaty.cli.render.console import text
from treaty.cli.render.tables import facts, format_time, listing
from treaty.registry.model import CutoverAnswer, LegacyFeedAnswer

_STYLES = {"legacy": "quiet", "parallel": "warning", "ready": "good", "cut_over": "good", "retired": "quiet"}


def render_feeds(console: Console, feeds: Sequence[LegacyFeedAnswer]) -> None:
    """Render feeds, one in each row."""
    console.print(
        listing(
            ("feed", "publication", "owner", "newest run", "consumers", "retired"),
            (
                (
                    feed.feed,
                    feed.line,
                    feed.owner,
                    feed.newest_run.isoformat() if feed.newest_run else "",
                    _counts(feed.consumers),
                    format_time(feed.retired_at) if feed.retired_at else "",
                )
                for feed in feeds
            ),
        )
    )


def render_feed(console: Console, feed: LegacyFeedAnswer) -> None:
    """Render a feed with its consumers and what each waits for."""
    console.print(text(f"{feed.feed} is replaced by {feed.line}", style="path"))
    rows: list[tuple[str, str | Text]] = [
        ("Owner", feed.owner),
        ("Read as", ", ".join(feed.names)),
        ("Gate", _gate(feed)),
        ("Newest run", feed.newest_run.isoformat() if feed.newest_run else "none"),
    ]
    if feed.produced:
        rows.insert(1, ("Produced", feed.produced))
    if feed.retired_at:
        rows.append(("Retired", f"{format_time(feed.retired_at)} UTC by {feed.retired_by}"))
    console.print(facts(rows))
    if feed.consumers:
        console.print()
        console.print(
            listing(
                ("consumer", "state", "class", "clean runs", "found by", "waits for"),
                (
                    (
                        one.consumer,
                        _state(one),
                        one.consumer_class.replace("_", " "),
                        f"{one.clean_runs} of {one.clean_runs_needed}",
                        ", ".join(one.evidence),
                        "; ".join(one.reasons),
                    )
                    for one in feed.consumers
                ),
            )
        )


def render_cutover(console: Console, cutover: CutoverAnswer) -> None:
    """Render the state of one consumer."""
    console.print(text(f"{cutover.consumer} and {cutover.feed}  ", style="path").append_text(_state(cutover)))
    rows: list[tuple[str, str | Text]] = [
        ("Class", cutover.consumer_class.replace("_", " ")),
        ("Clean runs", f"{cutover.clean_runs} of {cutover.clean_runs_needed}"),
    ]
    if cutover.acknowledged_at:
        rows.append(("Acknowledged", f"{format_time(cutover.acknowledged_at)} UTC by {cutover.acknowledged_by}"))
    if cutover.approved_at:
        rows.append(("Approved", f"{format_time(cutover.approved_at)} UTC by {cutover.approved_by}"))
    if cutover.since:
        rows.append(("Since", f"{format_time(cutover.since)} UTC"))
    rows += [("Waits for", reason) for reason in cutover.reasons]
    console.print(facts(rows))


def _state(cutover: CutoverAnswer) -> Text:
    return text(cutover.state.replace("_", " "), style=_STYLES[cutover.state])


def _counts(consumers: Sequence[CutoverAnswer]) -> str:
    counts = Counter(one.state for one in consumers)
    return ", ".join(f"{counts[state]} {state.replace('_', ' ')}" for state in counts) or "none"


def _gate(feed: LegacyFeedAnswer) -> str:
    gate = feed.gate
    words = f"{gate.clean_runs} clean {'run' if gate.clean_runs == 1 else 'runs'} in a row"
    if gate.absolute:
        words += f", totals within {gate.absolute:,}"
    if gate.relative:
        words += f", totals within {gate.relative:.4%}"
    return words
