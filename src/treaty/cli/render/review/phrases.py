"""What a review says of a contract, in words that every drawing shares."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import replace

from treaty.cli.render.tables import count
from treaty.cli.render.verdict import next_steps, outcome, version_said
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
    """Say in one line what the branch does, and whether it may merge."""
    if not review.contracts:
        return "no contract is touched"
    refused = sum(not one.may_merge for one in review.contracts)
    hit = {(party.kind, party.name) for one in review.contracts for party in one.having(*HIT)}
    parts = [count(len(review.contracts), "contract")]
    numbers = Counter(one.standing for one in review.contracts)
    parts += [f"{numbers[standing]:,} {standing.value}" for standing in ContractState if numbers[standing]]
    parts += [f"{count(len(hit), 'consumer')} to act"] if hit else []
    parts += [f"{refused:,} may not merge" if refused else "all may merge"]
    return " · ".join(parts)


def versions(one: ContractReview) -> str:
    """Say from which version to which."""
    if one.format is not None:
        return one.format
    if one.standing is ContractState.REMOVED:
        return f"{one.before} → removed"
    if one.before is None or one.before == one.after:
        return one.after or ""
    return f"{one.before} → {one.after}"


def decision(one: ContractReview) -> str:
    """Say whether it may merge, and why in few words."""
    said = "may merge" if one.may_merge else "may not merge"
    why = reason(one)
    return f"{said}: {why}" if why else said


def reason(one: ContractReview) -> str:
    """Say in few words why a contract may merge or not."""
    if one.standing is ContractState.UNREADABLE:
        return "it was not judged" if one.may_merge else "it cannot be read"
    if one.standing is ContractState.REMOVED:
        return "its line is still in use" if not one.may_merge else "nobody can rest on it"
    if one.standing is ContractState.UNCHANGED:
        said = f"only moved, from {one.was}" if one.was else "nothing that it promises changed"
    elif one.standing is ContractState.ADDED or one.verdict is None:
        said = "it is new"
    elif one.format is not None:
        said = _schema_reason(one)
    else:
        said = outcome(one.verdict)
    against = [section.value for section in Section if any(f in one.errors for f in one.of(section))]
    others = [name for name in against if name != Section.COMPATIBILITY or "refused" not in said]
    if one.may_merge or not others or (one.format is not None and others == [Section.COMPATIBILITY]):
        return said
    return f"{said}; refused for {' and '.join(others)}"


def _schema_reason(one: ContractReview) -> str:
    verdict = one.verdict
    assert verdict is not None  # noqa: S101 - asked only where there is one
    breaks = any(finding in one.errors for finding in one.of(Section.COMPATIBILITY))
    said = f"{'not ' if breaks else ''}compatible under {verdict.mode.value}"
    return f"{said} ({verdict.required_bump})" if verdict.required_bump is not Bump.NONE else said


def changes(one: ContractReview, severity: Severity) -> list[Judged]:
    """Return the changes of one weight; that the changelog says so too is no news."""
    judged = one.verdict.judged if one.verdict else ()
    return [item for item in judged if item.severity is severity and not says_so_itself(item)]


def says_so_itself(item: Judged) -> bool:
    """Tell whether a change is only that the changelog grew."""
    return item.change.field is None and item.change.subject == _CHANGELOG


def version_line(one: ContractReview) -> str | None:
    """Say which version the changes need, against the base and the registry."""
    if one.format is not None or one.verdict is None:
        return None
    own = version_said(one.verdict)
    if own is not None and one.required_version in (None, one.verdict.required_version):
        return own
    if one.required_version is None or one.version_is_enough:
        return own
    return f"the registry asks for {one.required_version}; {one.after} is declared"


def steps_ahead(one: ContractReview) -> Iterator[str]:
    """Yield how to go on, in the order one would do it."""
    if one.may_merge or one.verdict is None or one.standing is ContractState.UNCHANGED:
        return
    if one.format is not None:
        yield "keep what readers rest on, or set the finding aside in treaty.yaml by a waiver with an end"
        return
    steps = [step for step in next_steps(one.verdict, one.renames) if not step.startswith(_SET_VERSION)]
    if one.required_version and not one.version_is_enough:
        steps.insert(0, f"{_SET_VERSION}{one.required_version} (treaty check --fix writes it)")
    yield from steps
    if contacts := sorted({party.contact for party in one.having(*HIT) if party.contact}):
        yield f"talk to those it hits: {', '.join(contacts)}"


def about(party: Affected) -> str:
    """Say who a consumer is."""
    known = (
        "made from it" if party.kind == "line" else None,
        party.consumer_class,
        "critical" if party.critical else None,
        party.contact,
    )
    return " · ".join(part for part in known if part)


def reads(party: Affected) -> str:
    """Say by which fields somebody is hit."""
    if party.effect == "unknown":
        return "never said which fields it reads"
    return f"reads {', '.join(party.fields)}" if party.fields else "rests on the contract as a whole"


def step(one: Step) -> str:
    """Say what to do about one field."""
    return f"{one.field}: {one.action}" if one.field else one.action


def located(one: ContractReview) -> Iterator[Finding]:
    """Yield the findings of a contract, each at least at its file, with whom it hits."""
    for finding in one.findings:
        place = finding.place or Place(one.path)
        if place.source.startswith("git:"):
            place = Place(one.path)
        hit = [party.name for party in one.having("hit") if finding.path and finding.path in party.fields]
        message = f"{finding.message} (hits {', '.join(hit)})" if hit else finding.message
        yield replace(finding, message=message, place=place)


def pages(ids: Collection[str]) -> dict[str, tuple[str, str]]:
    """Return the summary and the page of each id."""
    found: dict[str, tuple[str, str]] = {}
    for one in ids:
        entry = KINDS.get(one) or RULES.get(one)
        page = entry.page if entry else BRANCH_FINDINGS.get(one)
        if page:
            found[one] = (page.splitlines()[0], page)
    return found


def silence(review: Review) -> str | None:
    """Say that the registry gave no answer, and what that means."""
    if review.silent is None:
        return None
    return f"the registry gave no answer, so only the repository was asked: {review.silent}"
