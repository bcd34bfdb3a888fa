"""A review for people, at a terminal or in a log."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console
from rich.table import Table
from rich.text import Text

from treaty.cli.render.console import MARKS, STYLES, captured, text
from treaty.cli.render.review import phrases
from treaty.cli.render.tables import facts
from treaty.cli.render.verdict import HEADINGS, whom
from treaty.contracts.findings import Finding, Severity
from treaty.review import Affected, ContractReview, ContractState, Review, Section

_SECTIONS = {
    Section.DOCUMENT: "Document",
    Section.POLICY: "Policy",
    Section.REGISTRY: "Registry",
    Section.LINT: "Lint",
}
_EFFECTS = {
    "hit": ("✗", "error", "Hit"),
    "unknown": ("!", "warning", "Perhaps hit"),
    "exposed": ("·", "quiet", "Further down"),
    "safe": ("✓", "good", "Safe"),
}


def draw(review: Review) -> str:
    """Return the review, the contracts that may not merge last, where a reader of a log looks."""
    with captured() as (drawn, lines):
        for one in sorted(review.contracts, key=lambda one: not one.may_merge):
            _draw_contract(drawn, one)
        if said := phrases.silence(review):
            drawn.print(text(said, style="warning"))
            drawn.print()
        style = "good" if review.may_merge else "error"
        title = text(phrases.headline(review), style=style)
        drawn.print(title.append_text(text(f"  against {review.base} ({review.commit[:12]})", style="quiet")))
    return "".join(f"{line}\n" for line in lines)


def _draw_contract(drawn: Console, one: ContractReview) -> None:
    mark, style = ("✓", "good") if one.may_merge else ("✗", "error")
    title = text(mark, style=style).append_text(text(f" {one.name}", style="path"))
    title.append_text(text(f"  {phrases.versions(one)}", style="accent"))
    title.append_text(text(f"  {one.path}" if one.contract else "", style="quiet"))
    drawn.print(title)
    drawn.print(text(f"  {phrases.decision(one)}", style=style))
    if one.standing is not ContractState.UNCHANGED:
        _draw_changes(drawn, one)
    rows = list(_facts(one))
    if rows:
        drawn.print(facts(rows))
    drawn.print()


def _draw_changes(drawn: Console, one: ContractReview) -> None:
    for severity, heading in HEADINGS.items():
        group = phrases.changes(one, severity)
        if not group:
            continue
        drawn.print(text(f"  {heading}", style=STYLES[severity]))
        grid = Table.grid(padding=(0, 2), pad_edge=True)
        grid.add_column(no_wrap=True)
        grid.add_column(overflow="fold", ratio=1)
        for item in group:
            said = text(item.message)
            known = (str(item.grade.bump), whom(item), item.change.kind)
            said.append("\n" + " · ".join(part for part in known if part), style="quiet")
            grid.add_row(text(f"  {MARKS[severity]}", style=STYLES[severity]), said)
        drawn.print(grid)


def _facts(one: ContractReview) -> Iterator[tuple[str, str | Text]]:
    if version := phrases.version_line(one):
        yield "Version", version
    for rename in one.renames:
        yield "Rename?", str(rename)
    for section, title in _SECTIONS.items():
        yield from _named(title, [_finding(finding) for finding in one.of(section) if _is_shown(finding)])
    yield from _named("Lint", _older(one)) if not one.of(Section.LINT) else _named("", _older(one))
    yield from _named("Waived", [_waived(waived.finding, str(waived.waiver.until)) for waived in one.waived])
    for effect, (mark, style, title) in _EFFECTS.items():
        yield from _named(title, list(_parties(one, effect, mark, style)))
    if one.more_affected:
        yield "", f"and {one.more_affected:,} more that are not listed"
    yield from _named("Next", list(phrases.steps_ahead(one)))


def _named(name: str, said: list[str | Text] | list[str] | list[Text]) -> Iterator[tuple[str, str | Text]]:
    for number, line in enumerate(said):
        yield (name if number == 0 else ""), line


def _is_shown(finding: Finding) -> bool:
    return finding.severity is not Severity.INFO


def _finding(finding: Finding) -> Text:
    where = f"{finding.place.line}: " if finding.place and finding.place.line else ""
    said = text(f"{where}{finding.message}", style=STYLES[finding.severity])
    if finding.hint:
        said.append("\n").append_text(text(finding.hint, style="quiet"))
    return said.append_text(text(f"  {finding.id}", style="quiet"))


def _waived(finding: Finding, until: str) -> Text:
    return text(f"{finding.message}  {finding.id}, until {until}", style="quiet")


def _older(one: ContractReview) -> list[str]:
    if not one.older_lint:
        return []
    return [f"{one.older_lint:,} more that the base has too: treaty lint {one.path}"]


def _parties(one: ContractReview, effect: str, mark: str, style: str) -> Iterator[Text]:
    group = one.having(effect)
    if effect in ("exposed", "safe"):
        if group:
            yield text(", ".join(party.name for party in group), style="quiet")
        return
    for party in group:
        yield _party(party, mark, style)


def _party(party: Affected, mark: str, style: str) -> Text:
    said = text(f"{mark} ", style=style).append_text(text(party.name, style="path"))
    who = phrases.about(party)
    said.append_text(text(f"  {who}" if who else "", style="quiet"))
    said.append("\n").append_text(text(phrases.reads(party)))
    for step in party.steps if party.effect == "hit" else ():
        said.append("\n").append_text(text(f"→ {phrases.step(step)}", style="quiet"))
    return said
