"""A review as a comment on a pull request: a summary, folded details, and a marker to find the comment again."""

from __future__ import annotations

import html
from collections.abc import Iterator

from treaty.cli.render.markdown import code, escape_markdown, table
from treaty.cli.render.plain_text import pluralize, printable
from treaty.cli.render.review import phrases
from treaty.cli.render.verdict import HEADINGS, describe_breakage
from treaty.contracts.findings import Finding, Severity
from treaty.review import Affected, ContractReview, ContractState, Review, Section

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
    parts = [MARKER, *([] if review.contracts else [EMPTY]), *_top(review)]
    length = sum(map(len, parts))
    left_out = 0
    for one in sorted(review.contracts, key=lambda one: one.may_merge):
        details = _details(one)
        if length + len(details) > MAX_CHARACTERS:
            left_out += 1
            continue
        length += len(details) + 2
        parts.append(details)
    if left_out:
        parts.append(f"_The details of {pluralize(left_out, 'contract')} did not fit; `treaty check` prints them._")
    parts.append(f"<sub>compared with {code(review.base)} at {code(review.commit[:12])}</sub>")
    return "\n\n".join(parts) + "\n"


def _top(review: Review) -> Iterator[str]:
    mark = "✅" if review.may_merge else "❌"
    yield f"### {mark} Contracts: {escape_markdown(phrases.headline(review))}"
    if problem := phrases.describe_silent_registry(review):
        yield f"⚠️ {escape_markdown(problem)}"
    shown = [one for one in review.contracts if one.standing is not ContractState.UNCHANGED or not one.may_merge]
    if shown:
        rows = [_row(one) for one in shown[:MAX_ROWS]]
        yield table(("", "contract", "version", "verdict", "affected consumers"), rows)
        if len(shown) > MAX_ROWS:
            yield f"_and {len(shown) - MAX_ROWS} more_"


def _row(one: ContractReview) -> tuple[str, ...]:
    mark = "✅" if one.may_merge else "❌"
    version = escape_markdown(phrases.versions(one))
    if one.required_version and not one.version_is_enough:
        version += f"<br>requires {escape_markdown(one.required_version)}"
    hit = one.having(*phrases.HIT)
    named = ", ".join(_brief(party) for party in hit[:5]) + (f" and {len(hit) - 5} more" if len(hit) > 5 else "")
    return mark, code(one.name), version, escape_markdown(phrases.reason(one)), named


def _brief(party: Affected) -> str:
    fields = ", ".join(code(field) for field in party.fields[:5]) + ("…" if len(party.fields) > 5 else "")
    name = f"**{escape_markdown(party.name)}**"
    return f"{name} ({fields})" if fields and party.effect == "hit" else f"{name} (possibly)"


def _details(one: ContractReview) -> str:
    summary = f"{'✅' if one.may_merge else '❌'} {_html(one.name)} {_html(phrases.versions(one))}"
    parts = [f"<details><summary>{summary}</summary>", f"{code(one.path)}: {escape_markdown(phrases.decision(one))}"]
    parts += _body(one)
    return "\n\n".join([*parts, "</details>"])


def _body(one: ContractReview) -> Iterator[str]:
    rows = [
        (
            HEADINGS[severity],
            code(item.change.path),
            escape_markdown(item.message),
            str(item.grade.bump),
            describe_breakage(item),
        )
        for severity in HEADINGS
        for item in phrases.changes(one, severity)
    ]
    if rows:
        yield table(("", "field", "change", "bump", "breaks"), rows)
    if version := phrases.version_line(one):
        yield f"**Version**: {escape_markdown(version)}"
    if steps := list(phrases.next_steps_for(one)):
        yield "**Next**\n\n" + "\n".join(f"1. {escape_markdown(step)}" for step in steps)
    if parties := one.having(*phrases.HIT):
        yield "**Consumers**\n\n" + "\n".join(_party(party) for party in parties)
    if one.more_affected:
        yield f"_and {one.more_affected} more_"
    for section, title in _SECTIONS.items():
        findings = [finding for finding in one.of(section) if _is_shown(one, section, finding)]
        if findings:
            yield f"**{title}**\n\n" + "\n".join(_finding(finding) for finding in findings)
    if one.waived:
        waived = [
            f"- {escape_markdown(w.finding.message)} ({code(w.finding.id)}, until {w.waiver.until})" for w in one.waived
        ]
        yield "**Waived**\n\n" + "\n".join(waived)
    if one.renames:
        yield "**Possible renames**\n\n" + "\n".join(f"- {escape_markdown(str(rename))}" for rename in one.renames)


def _is_shown(one: ContractReview, section: Section, finding: Finding) -> bool:
    """Tell whether a finding is not already in the table of changes."""
    if finding.severity is Severity.INFO:
        return False
    changed = {item.change.kind for item in one.verdict.judged} if one.verdict else set()
    return section is not Section.COMPATIBILITY or finding.id not in changed


def _party(party: Affected) -> str:
    who = phrases.describe_party(party)
    head = (
        f"- **{escape_markdown(party.name)}**"
        + (f" ({escape_markdown(who)})" if who else "")
        + f" {escape_markdown(phrases.describe_reading(party))}"
    )
    steps = [f"  - {_step_field(step.field)}{escape_markdown(step.action)}" for step in party.steps]
    return "\n".join([head, *(steps if party.effect == "hit" else [])])


def _step_field(field: str | None) -> str:
    return f"{code(field)}: " if field else ""


def _finding(finding: Finding) -> str:
    line = f"line {finding.place.line}: " if finding.place and finding.place.line else ""
    hint = f"; {finding.hint}" if finding.hint else ""
    mark = "❌" if finding.severity is Severity.ERROR else "⚠️"
    return f"- {mark} {escape_markdown(f'{line}{finding.message}{hint}')} ({code(finding.id)})"


def _html(text: str) -> str:
    """Return text as code inside HTML, where neither Markdown nor mentions are interpreted."""
    return f"<code>{html.escape(printable(text))}</code>"
