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
from treaty.review import Affected, ContractReview, ContractState, Review, Section, Step, SubscriptionReview
from treaty.review.checks import is_lifecycle_step

HIT = ("hit", "unknown")
_SET_VERSION = "set version: "
_CHANGELOG = "changelog"


def headline(review: Review) -> str:
    """Summarize the review in one line."""
    subscribed = [_describe_subscriptions(review)] if review.subscriptions else []
    if not review.contracts:
        return " · ".join(["no contract changed", *subscribed])
    refused = sum(not contract.may_merge for contract in review.contracts)
    hit = {(party.kind, party.name) for contract in review.contracts for party in contract.having(*HIT)}
    parts = [pluralize(len(review.contracts), "contract")]
    numbers = Counter(contract.state for contract in review.contracts)
    parts += [f"{numbers[state]:,} {state.value}" for state in ContractState if numbers[state]]
    parts += [f"{pluralize(len(hit), 'consumer')} affected"] if hit else []
    parts += [f"{refused:,} may not merge" if refused else "all may merge"]
    return " · ".join([*parts, *subscribed])


def _describe_subscriptions(review: Review) -> str:
    """Count the subscriptions whose consumers have something to do."""
    refused = sum(not subscription.may_merge for subscription in review.subscriptions)
    warned = sum(subscription.has_news for subscription in review.subscriptions) - refused
    counts = [f"{refused:,} refused" if refused else "", f"{warned:,} to act on" if warned else ""]
    state = ", ".join(count for count in counts if count) or "none to act on"
    return f"{pluralize(len(review.subscriptions), 'subscription')}, {state}"


def describe_line(subscription: SubscriptionReview) -> str:
    """Describe the line that a consumer reads: its current version, its status and the fields that are read."""
    outlook = subscription.outlook
    if outlook is None:
        return "not registered"
    fields = subscription.declared.subscription.fields
    reads = f"reads {', '.join(map(str, fields))}" if fields else "has not declared its fields"
    known = "" if outlook.is_subscribed else "not subscribed yet: treaty register"
    parts = (outlook.contract.version, outlook.ending.status.value, reads, known)
    return " · ".join(part for part in parts if part)


def versions(contract: ContractReview) -> str:
    """Return the version before and after."""
    if contract.format is not None:
        return contract.format
    if contract.state is ContractState.REMOVED:
        return f"{contract.before} → removed"
    if contract.before is None or contract.before == contract.after:
        return contract.after or ""
    return f"{contract.before} → {contract.after}"


def decision(contract: ContractReview) -> str:
    """Return whether a contract may merge, and why."""
    answer = "may merge" if contract.may_merge else "may not merge"
    why = reason(contract)
    return f"{answer}: {why}" if why else answer


def reason(contract: ContractReview) -> str:
    """Return in a few words why a contract may merge or not."""
    if contract.state is ContractState.UNREADABLE:
        return "it was not checked" if contract.may_merge else "it cannot be read"
    if contract.state is ContractState.REMOVED:
        return "its line is still in use" if not contract.may_merge else "its line is not in use"
    if contract.state is ContractState.UNCHANGED:
        verdict_text = f"only moved from {contract.moved_from}" if contract.moved_from else "no term changed"
    elif contract.state is ContractState.ADDED or contract.verdict is None:
        verdict_text = "new contract"
    elif contract.format is not None:
        verdict_text = _schema_reason(contract)
    else:
        verdict_text = describe_outcome(contract.verdict)
    sections = [
        section.value for section in Section if any(f in contract.errors for f in contract.findings_of(section))
    ]
    others = [name for name in sections if name != Section.COMPATIBILITY or "refused" not in verdict_text]
    if contract.may_merge or not others or (contract.format is not None and others == [Section.COMPATIBILITY]):
        return verdict_text
    return f"{verdict_text}; refused by {' and '.join(others)}"


def _schema_reason(contract: ContractReview) -> str:
    verdict = contract.verdict
    assert verdict is not None  # noqa: S101 - asked only where there is one
    breaks = any(finding in contract.errors for finding in contract.findings_of(Section.COMPATIBILITY))
    verdict_text = f"{'not ' if breaks else ''}compatible under {verdict.mode.value}"
    return f"{verdict_text} ({verdict.required_bump})" if verdict.required_bump is not Bump.NONE else verdict_text


def changes(contract: ContractReview, severity: Severity) -> list[Judged]:
    """Return the changes of one severity, without the new changelog entry."""
    judged = contract.verdict.judged if contract.verdict else ()
    return [change for change in judged if change.severity is severity and not is_changelog_entry(change)]


def is_changelog_entry(judged: Judged) -> bool:
    """Return whether a change is only a new entry in the changelog."""
    return judged.change.field is None and judged.change.subject == _CHANGELOG


def version_line(contract: ContractReview) -> str | None:
    """Describe the version that base and registry require."""
    if contract.format is not None or contract.verdict is None:
        return None
    if is_lifecycle_step(contract.verdict):
        return f"{contract.after} stays: only its status or deprecation changes"
    own = describe_version(contract.verdict)
    if own is not None and contract.required_version in (None, contract.verdict.required_version):
        return own
    if contract.required_version is None or contract.version_is_enough:
        return own
    return f"the registry requires {contract.required_version}; {contract.after} is declared"


def next_steps_for(contract: ContractReview) -> Iterator[str]:
    """Yield the next steps in order."""
    if contract.may_merge or contract.verdict is None or contract.state is ContractState.UNCHANGED:
        return
    if contract.format is not None:
        yield "keep the fields that readers use, or waive the finding in treaty.yaml with an end date"
        return
    steps = [step for step in next_steps(contract.verdict, contract.renames) if not step.startswith(_SET_VERSION)]
    if contract.required_version and not contract.version_is_enough:
        steps.insert(0, f"{_SET_VERSION}{contract.required_version} (treaty check --fix writes it)")
    yield from steps
    if contacts := sorted({party.contact for party in contract.having(*HIT) if party.contact}):
        yield f"talk to the affected consumers: {', '.join(contacts)}"


def describe_party(party: Affected) -> str:
    """Describe a consumer: class, criticality and contact."""
    details = (
        "derived from it" if party.kind == "line" and not party.path else None,
        f"through {' → '.join(party.path[1:-1])}" if party.path else None,
        party.consumer_class,
        "critical" if party.critical else None,
        party.contact,
    )
    return " · ".join(part for part in details if part)


def describe_reading(party: Affected) -> str:
    """Describe the fields by which a consumer is affected."""
    if party.effect == "unknown":
        return "has not declared its fields"
    if party.path and party.effect == "hit":
        return f"depends on {', '.join(party.fields)}"
    if party.effect == "warned":
        return "reads a line that comes to its end"
    return f"reads {', '.join(party.fields)}" if party.fields else "depends on the contract as a whole"


def describe_step(step: Step) -> str:
    """Describe what to do about one field."""
    return f"{step.field}: {step.action}" if step.field else step.action


def locate_findings(contract: ContractReview) -> Iterator[Finding]:
    """Yield the findings of a contract with their file and affected consumers."""
    for finding in contract.findings:
        place = finding.place or Place(contract.path)
        if place.source.startswith("git:"):
            place = Place(contract.path)
        hit = [party.name for party in contract.having("hit") if finding.path and finding.path in party.fields]
        message = f"{finding.message} (affects {', '.join(hit)})" if hit else finding.message
        yield replace(finding, message=message, place=place)


def all_findings(review: Review) -> Iterator[Finding]:
    """Yield the findings of all contracts and subscriptions, with their files."""
    for contract in review.contracts:
        yield from locate_findings(contract)
    for subscription in review.subscriptions:
        yield from subscription.findings


def reference_texts(ids: Collection[str]) -> dict[str, tuple[str, str]]:
    """Return the summary and the page of each id."""
    texts: dict[str, tuple[str, str]] = {}
    for name in ids:
        entry = KINDS.get(name) or RULES.get(name)
        page = entry.page if entry else BRANCH_FINDINGS.get(name)
        if page:
            texts[name] = (page.splitlines()[0], page)
    return texts


def describe_registry_failure(review: Review) -> str | None:
    """Describe that the registry did not answer; None if it did."""
    if review.registry_failure is None:
        return None
    return f"the registry did not answer, so only the repository was checked: {review.registry_failure}"
