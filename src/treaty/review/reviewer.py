"""Reviews a branch: runs every check on every contract that the branch changes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from treaty.compatibility import Verdict, suggest_renames
from treaty.contracts.findings import Finding, Severity
from treaty.contracts.model import Contract
from treaty.contracts.versions import try_parse_version
from treaty.governance.effective import effective_contract
from treaty.review.affected_consumers import affected_by, affected_by_removal, merge_affected, with_steps
from treaty.review.branch import Branch, Document, RegistryGateway, Rules
from treaty.review.checks import (
    apply_project_waivers,
    check_compatibility,
    check_lint,
    children_in_breach,
    judge_pair,
    policies_above,
    policy_findings,
    removal_finding,
)
from treaty.review.context import RegistrySession, ReviewContext, build_context, find_related
from treaty.review.effective_views import find_view_changes
from treaty.review.pairing import Pair, ReadChange, pairs_of, read_touched
from treaty.review.report import Affected, ContractReview, ContractState, RegistryAnswer, Review, Section
from treaty.review.subscriptions import review_subscriptions

SectionFindings = list[tuple[Section, Finding]]


def review(branch: Branch, rules: Rules, registry: RegistryGateway | None = None) -> Review:
    """Review every contract that a branch changes; without a registry, only the repository is used."""
    read = [read_touched(touched_file, rules.limits) for touched_file in branch.touched]
    around = find_related(branch, [side for part in read for side in (part.before, part.after)], rules.limits)
    session = RegistrySession(registry)
    context = build_context(read, around, rules, session)
    reviews = [_review_pair(pair, context) for pair in pairs_of(read, around.documents)]
    reviews += [_unreadable(part.touched.path, _file_problems(part)) for part in read if part.after.problems]
    reviews += [_unreadable(path, map(_as_warning, problems)) for path, problems in around.problems]
    reviews.sort(key=lambda one: (one.path, one.name, one.after or "", one.state))
    coming = review_subscriptions(branch, [part.after for part in read], context)
    name = registry.name if registry else None
    return Review(branch.base, branch.commit, tuple(reviews), name, session.failure, coming)


def _review_pair(pair: Pair, context: ReviewContext) -> ContractReview:
    if pair.after is not None:
        return _review_present(pair, pair.after, context)
    return _review_removed(pair, pair.document, context)


def _review_present(pair: Pair, after: Document, context: ReviewContext) -> ContractReview:
    rules, before, contract = context.rules, pair.before, after.contract
    verdict = judge_pair(pair, rules, find_view_changes(context))
    answer = context.registry.answer_for(pair)
    broken = check_compatibility(pair, verdict, rules) if verdict else apply_project_waivers((), contract.id, rules)
    bound = apply_project_waivers(_policy(pair, after, context), contract.id, rules)
    policies = _policies(after, answer, context)
    legible = check_lint(pair, rules, policies, answer.readers if answer else None)
    findings: SectionFindings = [(Section.DOCUMENT, finding) for finding in context.duplicates_of(after)]
    findings += [(Section.COMPATIBILITY, finding) for finding in broken.findings]
    findings += [(Section.POLICY, finding) for finding in bound.findings]
    findings += [(Section.LINT, finding) for finding in legible.findings]
    known = {(finding.id, finding.path) for _, finding in findings}
    findings += [
        (Section.REGISTRY, finding)
        for finding in (answer.findings if answer else ())
        if (finding.id, finding.path) not in known
    ]
    hit: tuple[Affected, ...] = ()
    if verdict and before:
        hit = affected_by(verdict, before.contract, context.declared, context.documents, rules.today)
    ours = after.format is None
    return ContractReview(
        path=after.path,
        state=_state(pair, verdict),
        contract=contract.id,
        format=after.format,
        moved_from=context.moved_from(pair),
        before=before.contract.version if before and ours else None,
        after=contract.version if ours else None,
        verdict=verdict,
        required_version=_required(verdict, answer) if ours else None,
        renames=suggest_renames(before.contract, contract) if before else (),
        section_findings=tuple(findings),
        waived=(*broken.waived, *bound.waived, *legible.waived),
        older_lint=legible.older,
        affected=merge_affected((*hit, *with_steps(answer.affected if answer else (), verdict))),
        more_affected=answer.more if answer else 0,
        registry=answer,
        losses=after.losses,
        proposed=effective_contract(contract, policies).contract if ours else None,
    )


def _review_removed(pair: Pair, before: Document, context: ReviewContext) -> ContractReview:
    contract = before.contract
    answer = context.registry.answer_for(pair)
    finding = removal_finding(before)
    if answer is not None and answer.registered and not answer.findings:
        message = f"{finding.message}; it is retired in the registry"
        finding = replace(finding, severity=Severity.INFO, message=message, hint=None)
    gone = apply_project_waivers((finding,), contract.id, context.rules)
    hit = affected_by_removal(contract, context.declared, context.documents)
    findings: SectionFindings = [(Section.DOCUMENT, one) for one in gone.findings]
    findings += [(Section.REGISTRY, replace(one, place=finding.place)) for one in (answer.findings if answer else ())]
    return ContractReview(
        path=before.path,
        state=ContractState.REMOVED,
        contract=contract.id,
        format=before.format,
        before=contract.version if before.format is None else None,
        section_findings=tuple(findings),
        waived=gone.waived,
        affected=merge_affected((*hit, *(answer.affected if answer else ()))),
        more_affected=answer.more if answer else 0,
        registry=answer,
    )


def _unreadable(path: str, problems: Iterable[Finding]) -> ContractReview:
    return ContractReview(
        path, ContractState.UNREADABLE, section_findings=tuple((Section.DOCUMENT, problem) for problem in problems)
    )


def _file_problems(change: ReadChange) -> Iterable[Finding]:
    """Return the problems of a file; they are errors if the file had contracts before."""
    held = bool(change.before.documents)
    return (replace(finding, severity=Severity.ERROR) if held else finding for finding in change.after.problems)


def _as_warning(finding: Finding) -> Finding:
    """Return a problem of an unchanged file as a warning, because the branch did not cause it."""
    return replace(finding, severity=Severity.WARNING)


def _state(pair: Pair, verdict: Verdict | None) -> ContractState:
    if pair.before is None or verdict is None:
        return ContractState.ADDED
    same = verdict.is_unchanged or (pair.document.format is not None and not verdict.judged)
    return ContractState.UNCHANGED if same else ContractState.CHANGED


def _policy(pair: Pair, after: Document, context: ReviewContext) -> Iterator[Finding]:
    if after.format is not None:
        return
    yield from policy_findings(after, context.policies, context.rules, context.registry.answers)
    before = pair.before.contract if pair.before else None
    yield from children_in_breach(after, before, context.untouched, context.policies, context.rules)


def _policies(after: Document, answer: RegistryAnswer | None, context: ReviewContext) -> tuple[Contract, ...]:
    """Return the policies that bind a contract: those of the repository, then those that only the registry has."""
    above, _ = policies_above(after.contract, context.policies, context.rules)
    known = {policy.id for policy in above}
    return (*above, *(policy for policy in (answer.policies if answer else ()) if policy.id not in known))


def _required(verdict: Verdict | None, answer: RegistryAnswer | None) -> str | None:
    own = verdict.required_version if verdict and verdict.judged else None
    return higher_version(own, answer.required_version if answer else None)


def higher_version(one: str | None, other: str | None) -> str | None:
    """Return the higher of two versions, ignoring texts that are not versions."""
    versions = [text for text in (one, other) if text and try_parse_version(text)]
    return max(versions, key=lambda text: try_parse_version(text) or 0, default=None)
