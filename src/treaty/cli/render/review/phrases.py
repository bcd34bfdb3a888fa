"""Phrases about a review that all of its formats share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import replace

from treaty.cli.render.plain_text import pluralize
from treaty.cli.render.verdict import describe_outcome, describe_version, next_steps
from treaty.compatibility import KINDS, Judged
from treaty.contracts.findings import Finding, Place, Severity
from treaty.contracts.versions import Bump
from treaty.governance.branch_findings import BRANCH_FINDINGS
from treaty.governance.lint import RULES
from treaty.review import Affected, ContractReview, ContractState, Review, Section, Step

HIT = ("hit", "unknown")
_SET_VERSION = "set version: "
_CHANGELOG = "changelog"


def headline(review: Review) -> str:
    """Summarize the review in one line."""
    if not review.contracts:
        return "no contract changed"
    refused = sum(not one.may_merge for one in review.contracts)
    hit = {(party.kind, party.name) for one in review.contracts for party in one.having(*HIT)}
    parts = [pluralize(len(review.contracts), "contract")]
    numbers = Counter(one.standing for one in review.contracts)
    parts += [f"{numbers[standing]:,} {standing.value}" for standing in ContractState if numbers[standing]]
    parts += [f"{pluralize(len(hit), 'consumer')} affected"] if hit else []
    parts += [f"{refused:,} may not merge" if refused else "all may merge"]
    return " · ".join(parts)


def versions(one: ContractReview) -> str:
    """Return the version before and after."""
    if one.format is not None:
        return one.format
    if one.standing is ContractState.REMOVED:
        return f"{one.before} → removed"
    if one.before is None or one.before == one.after:
        return one.after or ""
    return f"{one.before} → {one.after}"


def decision(one: ContractReview) -> str:
    """Return whether a contract may merge, and why."""
    answer = "may merge" if one.may_merge else "may not merge"
    why = reason(one)
    return f"{answer}: {why}" if why else answer


def reason(one: ContractReview) -> str:
    """Return in a few words why a contract may merge or not."""
    if one.standing is ContractState.UNREADABLE:
        return "it was not checked" if one.may_merge else "it cannot be read"
    if one.standing is ContractState.REMOVED:
        return "its line is still in use" if not one.may_merge else "its line is not in use"
    if one.standing is ContractState.UNCHANGED:
        verdict_text = f"only moved from {one.was}" if one.was else "no term changed"
    elif one.standing is ContractState.ADDED or one.verdict is None:
        verdict_text = "new contract"
    elif one.format is not None:
        verdict_text = _schema_reason(one)
    else:
        verdict_text = describe_outcome(one.verdict)
    sections = [section.value for section in Section if any(f in one.errors for f in one.of(section))]
    others = [name for name in sections if name != Section.COMPATIBILITY or "refused" not in verdict_text]
    if one.may_merge or not others or (one.format is not None and others == [Section.COMPATIBILITY]):
        return verdict_text
    return f"{verdict_text}; refused by {' and '.join(others)}"


def _schema_reason(one: ContractReview) -> str:
    verdict = one.verdict
    assert verdict is not None  # noqa: S101 - asked only where there is one
    breaks = any(finding in one.errors for finding in one.of(Section.COMPATIBILITY))
    verdict_text = f"{'not ' if breaks else ''}compatible under {verdict.mode.value}"
    return f"{verdict_text} ({verdict.required_bump})" if verdict.required_bump is not Bump.NONE else verdict_text


def changes(one: ContractReview, severity: Severity) -> list[Judged]:
    """Return the changes of one severity, without the new changelog entry."""
    judged = one.verdict.judged if one.verdict else ()
    return [item for item in judged if item.severity is severity and not is_changelog_entry(item)]


def is_changelog_entry(item: Judged) -> bool:
    """Tell whether a change is only a new entry in the changelog."""
    return item.change.field is None and item.change.subject == _CHANGELOG


def version_line(one: ContractReview) -> str | None:
    """Describe the version that base and registry require."""
    if one.format is not None or one.verdict is None:
        return None
    own = describe_version(one.verdict)
    if own is not None and one.required_version in (None, one.verdict.required_version):
        return own
    if one.required_version is None or one.version_is_enough:
        return own
    return f"the registry requires {one.required_version}; {one.after} is declared"


def next_steps_for(one: ContractReview) -> Iterator[str]:
    """Yield the next steps in order."""
    if one.may_merge or one.verdict is None or one.standing is ContractState.UNCHANGED:
        return
    if one.format is not None:
        yield "keep the fields that readers use, or waive the finding in treaty.yaml with an end date"
        return
    steps = [step for step in next_steps(one.verdict, one.renames) if not step.startswith(_SET_VERSION)]
    if one.required_version and not one.version_is_enough:
        steps.insert(0, f"{_SET_VERSION}{one.required_version} (treaty check --fix writes it)")
    yield from steps
    if contacts := sorted({party.contact for party in one.having(*HIT) if party.contact}):
        yield f"talk to the affected consumers: {', '.join(contacts)}"


def describe_party(party: Affected) -> str:
    """Describe a consumer: class, criticality and contact."""
    details = (
        "derived from it" if party.kind == "line" else None,
        party.consumer_class,
        "critical" if party.critical else None,
        party.contact,
    )
    return " · ".join(part for part in details if part)


def describe_reading(party: Affected) -> str:
    """Describe the fields by which a consumer is affected."""
    if party.effect == "unknown":
        return "has not declared its fields"
    return f"reads {', '.join(party.fields)}" if party.fields else "depends on the contract as a whole"


def describe_step(one: Step) -> str:
    """Describe what to do about one field."""
    return f"{one.field}: {one.action}" if one.field else one.action


def locate_findings(one: ContractReview) -> Iterator[Finding]:
    """Yield the findings of a contract with their file and affected consumers."""
    for finding in one.findings:
        place = finding.place or Place(one.path)
        if place.source.startswith("git:"):
            place = Place(one.path)
        hit = [party.name for party in one.having("hit") if finding.path and finding.path in party.fields]
        message = f"{finding.message} (affects {', '.join(hit)})" if hit else finding.message
        yield replace(finding, message=message, place=place)


def reference_texts(ids: Collection[str]) -> dict[str, tuple[str, str]]:
    """Return the summary and the page of each id."""
    texts: dict[str, tuple[str, str]] = {}
    for one in ids:
        entry = KINDS.get(one) or RULES.get(one)
        page = entry.page if entry else BRANCH_FINDINGS.get(one)
        if page:
            texts[one] = (page.splitlines()[0], page)
    return texts


def describe_silent_registry(review: Review) -> str | None:
    """Describe that the registry did not answer; None if it did."""
    if review.silent is None:
        return None
    return f"the registry did not answer, so only the repository was checked: {review.silent}"
