"""Rendering of drift findings."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from treaty.cli.render.console import text
from treaty.cli.render.tables import facts, listing
from treaty.registry.model import DriftFindingAnswer

_STYLES = {"open": "error", "explained": "warning", "new_version": "good", "ended": "quiet"}
_WORDS = {"new_version": "new version"}


def render_findings(console: Console, findings: Sequence[DriftFindingAnswer]) -> None:
    """Render findings, one in each row."""
    console.print(
        listing(
            ("finding", "line", "state", "what changed", "last seen"),
            (
                (
                    one.fingerprint,
                    one.line,
                    text(_WORDS.get(one.state, one.state), style=_STYLES[one.state]),
                    one.message,
                    f"{one.last_seen:%Y-%m-%d %H:%M}",
                )
                for one in findings
            ),
        )
    )


def render_finding(console: Console, found: DriftFindingAnswer) -> None:
    """Render a finding with its evidence and its answer."""
    console.print(text(f"{found.line}: {found.message}", style="path"))
    console.print(
        facts(
            (
                ("kind", f"{found.kind}: {found.meaning}"),
                ("state", _WORDS.get(found.state, found.state)),
                ("seen", f"{found.seen} × since {found.first_seen:%Y-%m-%d %H:%M}, last in run {found.run}"),
                (
                    "events",
                    f"{found.events:,}; before, {found.events_before:,} in {found.compared_with} profiles",
                ),
                *_decision(found),
            )
        )
    )
    if found.evidence:
        console.print()
        rows = ((bar.label, _percent(bar.before), _percent(bar.now)) for bar in found.evidence)
        console.print(listing(("value", "before", "now"), rows))


def _decision(found: DriftFindingAnswer) -> list[tuple[str, str]]:
    decision = found.decision
    if decision is None:
        return []
    until = f" until {decision.until}" if decision.until else f", draft {decision.draft}" if decision.draft else ""
    return [("answer", f"{decision.owner}{until}: {decision.reason}")]


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
