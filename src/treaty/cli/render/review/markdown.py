"""A review as a comment on a pull request: a summary, folded details, and a marker to find the comment again."""

from __future__ import annotations

import html
from collections.abc import Iterator

from treaty.cli.render.data_impact import describe_example
from treaty.cli.render.markdown import code, escape_markdown, table
from treaty.cli.render.plain_text import pluralize, printable
from treaty.cli.render.review import phrases
from treaty.cli.render.verdict import HEADINGS, describe_breakage
from treaty.consumers.impact import WARNED
from treaty.contracts.findings import Finding, Severity
from treaty.review import Affected, ContractReview, ContractState, Review, Section, SubscriptionReview
from treaty.review.data_impact import TableImpact

MARKER = "<!-- treaty:check -->"
EMPTY = "<!-- treaty:check nothing to say -->"
MAX_CHARACTERS = 60_000
"""GitHub accepts 65,536 characters, GitLab more."""

MAX_ROWS = 100

_SECTIONS = {
    Section.DOCUMENT: "Document",
    Section.COMPATIBILITY: "Checks",
    Section.POLICY: "Policy",
    Section.REGISTRY: "Registry",
    Section.LINT: "Lint",
}


def render(review: Review) -> str:
    """Return the comment; details that would make it too long are replaced by a note."""
    parts = [MARKER, *([] if _has_news(review) else [EMPTY]), *_top(review)]
    length = sum(map(len, parts))
    left_out = 0
    for contract in sorted(review.contracts, key=lambda one: one.may_merge):
        details = _details(contract)
        if length + len(details) > MAX_CHARACTERS:
            left_out += 1
            continue
        length += len(details) + 2
        parts.append(details)
    if coming := _coming(review, MAX_CHARACTERS - length):
        parts.append(coming)
    if left_out:
        parts.append(f"_The details of {pluralize(left_out, 'contract')} did not fit; `treaty check` prints them._")
    parts.append(f"<sub>compared with {code(review.base)} at {code(review.commit[:12])}</sub>")
    return "\n\n".join(parts) + "\n"


def _has_news(review: Review) -> bool:
    return bool(review.contracts) or any(subscription.has_news for subscription in review.subscriptions)


def _coming(review: Review, space: int) -> str:
    """Return what is coming for the consumers of the repository, as far as there is space."""
    entries = [_subscription(subscription) for subscription in review.subscriptions if subscription.findings]
    parts = ["**What is coming for the consumers of this repository**"] if entries else []
    for position, entry in enumerate(entries):
        space -= len(entry) + 2
        if space < 0:
            left_out = pluralize(len(entries) - position, "subscription")
            return "\n\n".join([*parts, f"_{left_out} more; `treaty check` prints them._"])
        parts.append(entry)
    return "\n\n".join(parts)


def _subscription(subscription: SubscriptionReview) -> str:
    mark = "⚠️" if subscription.has_news else "✅"
    mark = mark if subscription.may_merge else "❌"
    title = f"**{escape_markdown(subscription.consumer)}** → {code(subscription.line)}"
    known = escape_markdown(phrases.describe_line(subscription))
    findings = "\n".join(f"  {_finding(finding)}" for finding in subscription.findings)
    return f"- {mark} {title} ({known})\n{findings}"


def _top(review: Review) -> Iterator[str]:
    mark = "✅" if review.may_merge else "❌"
    yield f"### {mark} Contracts: {escape_markdown(phrases.headline(review))}"
    if problem := phrases.describe_registry_failure(review):
        yield f"⚠️ {escape_markdown(problem)}"
    visible = [
        contract
        for contract in review.contracts
        if contract.state is not ContractState.UNCHANGED or not contract.may_merge
    ]
    if visible:
        rows = [_row(contract) for contract in visible[:MAX_ROWS]]
        yield table(("", "contract", "version", "verdict", "affected consumers"), rows)
        if len(visible) > MAX_ROWS:
            yield f"_and {len(visible) - MAX_ROWS} more_"


def _row(contract: ContractReview) -> tuple[str, ...]:
    mark = "✅" if contract.may_merge else "❌"
    version = escape_markdown(phrases.versions(contract))
    if contract.required_version and not contract.version_is_enough:
        version += f"<br>requires {escape_markdown(contract.required_version)}"
    hit = contract.having(*phrases.HIT, WARNED)
    named = ", ".join(_brief(party) for party in hit[:5]) + (f" and {len(hit) - 5} more" if len(hit) > 5 else "")
    return mark, code(contract.name), version, escape_markdown(phrases.reason(contract)), named


def _brief(party: Affected) -> str:
    fields = ", ".join(code(field) for field in party.fields[:5]) + ("…" if len(party.fields) > 5 else "")
    name = f"**{escape_markdown(party.name)}**"
    if party.effect == WARNED:
        return f"{name} (to migrate)"
    return f"{name} ({fields})" if fields and party.effect == "hit" else f"{name} (possibly)"


def _details(contract: ContractReview) -> str:
    summary = f"{'✅' if contract.may_merge else '❌'} {_html(contract.name)} {_html(phrases.versions(contract))}"
    parts = [
        f"<details><summary>{summary}</summary>",
        f"{code(contract.path)}: {escape_markdown(phrases.decision(contract))}",
    ]
    parts += _body(contract)
    return "\n\n".join([*parts, "</details>"])


def _body(contract: ContractReview) -> Iterator[str]:
    rows = [
        (
            HEADINGS[severity],
            code(change.change.path),
            escape_markdown(change.message),
            str(change.grade.bump),
            describe_breakage(change),
        )
        for severity in HEADINGS
        for change in phrases.changes(contract, severity)
    ]
    if rows:
        yield table(("", "field", "change", "bump", "breaks"), rows)
    if version := phrases.version_line(contract):
        yield f"**Version**: {escape_markdown(version)}"
    if steps := list(phrases.next_steps_for(contract)):
        yield "**Next**\n\n" + "\n".join(f"1. {escape_markdown(step)}" for step in steps)
    if parties := contract.having(*phrases.HIT):
        yield "**Consumers**\n\n" + "\n".join(_party(party) for party in parties)
    if parties := contract.having(WARNED):
        yield "**Consumers to migrate**\n\n" + "\n".join(_party(party) for party in parties)
    if contract.more_affected:
        yield f"_and {contract.more_affected} more_"
    for impact in contract.data:
        yield from _rows(impact)
    for section, title in _SECTIONS.items():
        findings = [finding for finding in contract.findings_of(section) if _is_shown(contract, section, finding)]
        if findings:
            yield f"**{title}**\n\n" + "\n".join(_finding(finding) for finding in findings)
    if contract.waived:
        waived = [
            f"- {escape_markdown(w.finding.message)} ({code(w.finding.id)}, until {w.waiver.until})"
            for w in contract.waived
        ]
        yield "**Waived**\n\n" + "\n".join(waived)
    if contract.renames:
        yield "**Possible renames**\n\n" + "\n".join(f"- {escape_markdown(str(rename))}" for rename in contract.renames)


def _rows(table_impact: TableImpact) -> Iterator[str]:
    """Yield what the version would do to the rows of one published table; the examples are masked."""
    yield f"**Published rows**: {escape_markdown(table_impact.headline)}"
    rows = [
        (
            code(impact.rule),
            code(impact.field) if impact.field else "",
            "" if impact.rows is None else f"{impact.rows:,}",
            escape_markdown(impact.requirement),
            escape_markdown(", ".join(map(describe_example, table_impact.examples_of(impact.rule)[:3]))),
        )
        for impact in table_impact.rules
    ]
    if rows:
        yield table(("rule", "field", "rows", "requires", "examples"), rows)


def _is_shown(contract: ContractReview, section: Section, finding: Finding) -> bool:
    """Return whether a finding is not already in the table of changes."""
    if finding.severity is Severity.INFO:
        return False
    changed = {judged.change.kind for judged in contract.verdict.judged} if contract.verdict else set()
    return section is not Section.COMPATIBILITY or finding.id not in changed


def _party(party: Affected) -> str:
    who = phrases.describe_party(party)
    head = (
        f"- **{escape_markdown(party.name)}**"
        + (f" ({escape_markdown(who)})" if who else "")
        + f" {escape_markdown(phrases.describe_reading(party))}"
    )
    steps = [f"  - {_step_field(step.field)}{escape_markdown(step.action)}" for step in party.steps]
    return "\n".join([head, *(steps if party.effect in ("hit", WARNED) else [])])


def _step_field(field: str | None) -> str:
    return f"{code(field)}: " if field else ""


def _finding(finding: Finding) -> str:
    line = f"line {finding.place.line}: " if finding.place and finding.place.line else ""
    hint = f"; {finding.hint}" if finding.hint else ""
    mark = {Severity.ERROR: "❌", Severity.WARNING: "⚠️", Severity.INFO: "ℹ️"}[finding.severity]
    return f"- {mark} {escape_markdown(f'{line}{finding.message}{hint}')} ({code(finding.id)})"


def _html(text: str) -> str:
    """Return text as code inside HTML, where neither Markdown nor mentions are interpreted."""
    return f"<code>{html.escape(printable(text))}</code>"
