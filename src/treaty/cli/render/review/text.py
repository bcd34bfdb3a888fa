"""A review as text, for a terminal or a log."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from treaty.cli.render.console import MARKS, STYLES, capture_console, text
from treaty.cli.render.data_impact import impact_lines
from treaty.cli.render.review import phrases
from treaty.cli.render.tables import facts
from treaty.cli.render.verdict import HEADINGS, describe_breakage
from treaty.contracts.findings import Finding, Severity
from treaty.review import Affected, ContractReview, ContractState, Review, Section, SubscriptionReview

_SECTIONS = {
    Section.DOCUMENT: "Document",
    Section.POLICY: "Policy",
    Section.REGISTRY: "Registry",
    Section.LINT: "Lint",
}
_EFFECTS = {
    "hit": ("✗", "error", "Affected"),
    "unknown": ("!", "warning", "Possibly"),
    "warned": ("!", "warning", "To migrate"),
    "exposed": ("·", "quiet", "Downstream"),
    "safe": ("✓", "good", "Safe"),
}


def render(review: Review) -> str:
    """Return the review; contracts that may not merge come last, near the end of the log."""
    with capture_console() as (console, lines):
        for contract in sorted(review.contracts, key=lambda one: not one.may_merge):
            _render_contract(console, contract)
        _render_subscriptions(console, review.subscriptions)
        if problem := phrases.describe_registry_failure(review):
            console.print(text(problem, style="warning"))
            console.print()
        style = "good" if review.may_merge else "error"
        title = text(phrases.headline(review), style=style)
        console.print(title.append_text(text(f"  compared with {review.base} ({review.commit[:12]})", style="quiet")))
    return "".join(f"{line}\n" for line in lines)


def _render_contract(console: Console, contract: ContractReview) -> None:
    mark, style = ("✓", "good") if contract.may_merge else ("✗", "error")
    title = text(mark, style=style).append_text(text(f" {contract.name}", style="path"))
    title.append_text(text(f"  {phrases.versions(contract)}", style="accent"))
    title.append_text(text(f"  {contract.path}" if contract.contract else "", style="quiet"))
    console.print(title)
    console.print(text(f"  {phrases.decision(contract)}", style=style))
    if contract.state is not ContractState.UNCHANGED:
        _render_changes(console, contract)
    rows = list(_facts(contract))
    if rows:
        console.print(facts(rows))
    console.print()


def _render_subscriptions(console: Console, subscriptions: Sequence[SubscriptionReview]) -> None:
    """Render what is coming for each consumer; those with errors come last."""
    silent = [subscription for subscription in subscriptions if not subscription.findings]
    if silent:
        names = ", ".join(f"{subscription.consumer} → {subscription.line}" for subscription in silent)
        console.print(text("✓", style="good").append_text(text(f" nothing is coming for {names}", style="quiet")))
        console.print()
    for subscription in sorted(subscriptions, key=lambda one: (not one.may_merge, one.has_news)):
        if subscription.findings:
            _render_subscription(console, subscription)


def _render_subscription(console: Console, subscription: SubscriptionReview) -> None:
    mark, style = ("!", "warning") if subscription.has_news else ("✓", "good")
    mark, style = (mark, style) if subscription.may_merge else ("✗", "error")
    title = text(mark, style=style).append_text(text(f" {subscription.consumer} → {subscription.line}", style="path"))
    console.print(title.append_text(text(f"  {subscription.path}", style="quiet")))
    console.print(text(f"  {phrases.describe_line(subscription)}", style="quiet"))
    console.print(facts(list(_named("Coming", [_finding(finding) for finding in subscription.findings]))))
    console.print()


def _render_changes(console: Console, contract: ContractReview) -> None:
    for severity, heading in HEADINGS.items():
        group = phrases.changes(contract, severity)
        if not group:
            continue
        console.print(text(f"  {heading}", style=STYLES[severity]))
        grid = Table.grid(padding=(0, 2), pad_edge=True)
        grid.add_column(no_wrap=True)
        grid.add_column(overflow="fold", ratio=1)
        for finding in group:
            message = text(finding.message)
            details = (str(finding.grade.bump), describe_breakage(finding), finding.change.kind)
            message.append("\n" + " · ".join(part for part in details if part), style="quiet")
            grid.add_row(text(f"  {MARKS[severity]}", style=STYLES[severity]), message)
        console.print(grid)


def _facts(contract: ContractReview) -> Iterator[tuple[str, str | Text]]:
    if version := phrases.version_line(contract):
        yield "Version", version
    for rename in contract.renames:
        yield "Rename?", str(rename)
    for section, title in _SECTIONS.items():
        yield from _named(title, [_finding(finding) for finding in contract.findings_of(section) if _is_shown(finding)])
    yield from (
        _named("Lint", _older(contract)) if not contract.findings_of(Section.LINT) else _named("", _older(contract))
    )
    yield from _named("Waived", [_waived(waived.finding, str(waived.waiver.until)) for waived in contract.waived])
    for effect, (mark, style, title) in _EFFECTS.items():
        yield from _named(title, list(_parties(contract, effect, mark, style)))
    yield from _named("Rows", [line for table in contract.data for line in impact_lines(table)])
    if contract.more_affected:
        yield "", f"and {contract.more_affected:,} more"
    yield from _named("Next", list(phrases.next_steps_for(contract)))


def _named(name: str, lines: list[str | Text] | list[str] | list[Text]) -> Iterator[tuple[str, str | Text]]:
    for number, line in enumerate(lines):
        yield (name if number == 0 else ""), line


def _is_shown(finding: Finding) -> bool:
    return finding.severity is not Severity.INFO


def _finding(finding: Finding) -> Text:
    where = f"{finding.place.line}: " if finding.place and finding.place.line else ""
    message = text(f"{where}{finding.message}", style=STYLES[finding.severity])
    if finding.hint:
        message.append("\n").append_text(text(finding.hint, style="quiet"))
    return message.append_text(text(f"  {finding.id}", style="quiet"))


def _waived(finding: Finding, until: str) -> Text:
    return text(f"{finding.message}  {finding.id}, until {until}", style="quiet")


def _older(contract: ContractReview) -> list[str]:
    if not contract.older_lint:
        return []
    return [f"{contract.older_lint:,} more, which the base has too: treaty lint {contract.path}"]


def _parties(contract: ContractReview, effect: str, mark: str, style: str) -> Iterator[Text]:
    group = contract.having(effect)
    if effect in ("exposed", "safe"):
        if group:
            yield text(", ".join(party.name for party in group), style="quiet")
        return
    for party in group:
        yield _party(party, mark, style)


def _party(party: Affected, mark: str, style: str) -> Text:
    entry = text(f"{mark} ", style=style).append_text(text(party.name, style="path"))
    who = phrases.describe_party(party)
    entry.append_text(text(f"  {who}" if who else "", style="quiet"))
    entry.append("\n").append_text(text(phrases.describe_reading(party)))
    for step in party.steps if party.effect in ("hit", "warned") else ():
        entry.append("\n").append_text(text(f"→ {phrases.describe_step(step)}", style="quiet"))
    return entry
