"""A review as a comment on a pull request: short on top, everything else folded away, found again by its marker."""

from __future__ import annotations

import html
from collections.abc import Iterator

from treaty.cli.render.markdown import code, escaped, table
from treaty.cli.render.printable import visible
from treaty.cli.render.review import phrases
from treaty.cli.render.verdict import HEADINGS, whom
from treaty.contracts.findings import Finding, Severity
from treaty.review import Affected, ContractReview, ContractState, Review, Section

MARKER = "<!-- treaty:check -->"
EMPTY = "<!-- treaty:check nothing to say -->"
_LONGEST = 60_000
"""GitHub takes 65,536 characters, GitLab more."""

_MOST_ROWS = 100

_SECTIONS = {
    Section.DOCUMENT: "Document",
    Section.COMPATIBILITY: "Checks",
    Section.POLICY: "Policy",
    Section.REGISTRY: "Registry",
    Section.LINT: "Lint",
}


def draw(review: Review) -> str:
    """Return the comment; details that would make it longer than hosts take are left out, and that is said."""
    parts = [MARKER, *([] if review.contracts else [EMPTY]), *_top(review)]
    length = sum(map(len, parts))
    left_out = 0
    for one in sorted(review.contracts, key=lambda one: one.may_merge):
        details = _details(one)
        if length + len(details) > _LONGEST:
            left_out += 1
            continue
        length += len(details) + 2
        parts.append(details)
    if left_out:
        parts.append(f"_The details of {left_out} more did not fit; `treaty check` prints them._")
    parts.append(f"<sub>against {code(review.base)} at {code(review.commit[:12])}</sub>")
    return "\n\n".join(parts) + "\n"


def _top(review: Review) -> Iterator[str]:
    mark = "✅" if review.may_merge else "❌"
    yield f"### {mark} Contracts: {escaped(phrases.headline(review))}"
    if said := phrases.silence(review):
        yield f"⚠️ {escaped(said)}"
    shown = [one for one in review.contracts if one.standing is not ContractState.UNCHANGED or not one.may_merge]
    if shown:
        rows = [_row(one) for one in shown[:_MOST_ROWS]]
        yield table(("", "contract", "version", "verdict", "consumers to act"), rows)
        if len(shown) > _MOST_ROWS:
            yield f"_and {len(shown) - _MOST_ROWS} more_"


def _row(one: ContractReview) -> tuple[str, ...]:
    mark = "✅" if one.may_merge else "❌"
    version = escaped(phrases.versions(one))
    if one.required_version and not one.version_is_enough:
        version += f"<br>needs {escaped(one.required_version)}"
    hit = one.having(*phrases.HIT)
    named = ", ".join(_brief(party) for party in hit[:5]) + (f" and {len(hit) - 5} more" if len(hit) > 5 else "")
    return mark, code(one.name), version, escaped(phrases.reason(one)), named


def _brief(party: Affected) -> str:
    fields = ", ".join(code(field) for field in party.fields[:5]) + ("…" if len(party.fields) > 5 else "")
    name = f"**{escaped(party.name)}**"
    return f"{name} ({fields})" if fields and party.effect == "hit" else f"{name} (perhaps)"


def _details(one: ContractReview) -> str:
    summary = f"{'✅' if one.may_merge else '❌'} {_html(one.name)} {_html(phrases.versions(one))}"
    parts = [f"<details><summary>{summary}</summary>", f"{code(one.path)}: {escaped(phrases.decision(one))}"]
    parts += _body(one)
    return "\n\n".join([*parts, "</details>"])


def _body(one: ContractReview) -> Iterator[str]:
    rows = [
        (HEADINGS[severity], code(item.change.path), escaped(item.message), str(item.grade.bump), whom(item))
        for severity in HEADINGS
        for item in phrases.changes(one, severity)
    ]
    if rows:
        yield table(("", "where", "what", "bump", "whom"), rows)
    if version := phrases.version_line(one):
        yield f"**Version**: {escaped(version)}"
    if steps := list(phrases.steps_ahead(one)):
        yield "**Next**\n\n" + "\n".join(f"1. {escaped(step)}" for step in steps)
    if parties := one.having(*phrases.HIT):
        yield "**Consumers**\n\n" + "\n".join(_party(party) for party in parties)
    if one.more_affected:
        yield f"_and {one.more_affected} more that are not listed_"
    for section, title in _SECTIONS.items():
        found = [finding for finding in one.of(section) if _is_told(one, section, finding)]
        if found:
            yield f"**{title}**\n\n" + "\n".join(_finding(finding) for finding in found)
    if one.waived:
        said = [f"- {escaped(w.finding.message)} ({code(w.finding.id)}, until {w.waiver.until})" for w in one.waived]
        yield "**Waived**\n\n" + "\n".join(said)
    if one.renames:
        yield "**Renames?**\n\n" + "\n".join(f"- {escaped(str(rename))}" for rename in one.renames)


def _is_told(one: ContractReview, section: Section, finding: Finding) -> bool:
    """Tell what the table of changes does not say already."""
    if finding.severity is Severity.INFO:
        return False
    changed = {item.change.kind for item in one.verdict.judged} if one.verdict else set()
    return section is not Section.COMPATIBILITY or finding.id not in changed


def _party(party: Affected) -> str:
    who = phrases.about(party)
    head = f"- **{escaped(party.name)}**" + (f" ({escaped(who)})" if who else "") + f" {escaped(phrases.reads(party))}"
    steps = [f"  - {_step_field(step.field)}{escaped(step.action)}" for step in party.steps]
    return "\n".join([head, *(steps if party.effect == "hit" else [])])


def _step_field(field: str | None) -> str:
    return f"{code(field)}: " if field else ""


def _finding(finding: Finding) -> str:
    line = f"line {finding.place.line}: " if finding.place and finding.place.line else ""
    hint = f"; {finding.hint}" if finding.hint else ""
    mark = "❌" if finding.severity is Severity.ERROR else "⚠️"
    return f"- {mark} {escaped(f'{line}{finding.message}{hint}')} ({code(finding.id)})"


def _html(text: str) -> str:
    """Return a text as code inside of HTML, where Markdown is not read and nobody is mentioned."""
    return f"<code>{html.escape(visible(text))}</code>"
