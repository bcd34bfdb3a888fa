"""Reviews a branch: runs every check on every contract that the branch changes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from treaty.compatibility import Verdict, suggest_renames
from treaty.contracts.findings import Finding, Severity
from treaty.contracts.versions import try_parse_version
from treaty.review.affected_consumers import affected_by, affected_by_removal, merge_affected, with_steps
from treaty.review.branch import Branch, Document, RegistryGateway, Rules
from treaty.review.checks import (
    apply_project_waivers,
    check_compatibility,
    check_lint,
    children_in_breach,
    judge_pair,
    policy_findings,
    removal_finding,
)
from treaty.review.context import RegistrySession, ReviewContext, build_context, find_related
from treaty.review.pairing import Pair, ReadChange, pairs_of, read_touched
from treaty.review.report import ContractReview, ContractState, RegistryAnswer, Review, Section

SectionFindings = list[tuple[Section, Finding]]


def review(branch: Branch, rules: Rules, registry: RegistryGateway | None = None) -> Review:
    """Review every contract that a branch changes; without a registry, only the repository is used."""
    read = [read_touched(one, rules.limits) for one in branch.touched]
    around = find_related(branch, [side for one in read for side in (one.before, one.after)], rules.limits)
    asking = RegistrySession(registry)
    scene = build_context(read, around, rules, asking)
    found = [_review_pair(pair, scene) for pair in pairs_of(read, around.documents)]
    found += [_unreadable(one.touched.path, _file_problems(one)) for one in read if one.after.problems]
    found += [_unreadable(path, map(_as_warning, problems)) for path, problems in around.problems]
    found.sort(key=lambda one: (one.path, one.name, one.after or "", one.standing))
    return Review(branch.base, branch.commit, tuple(found), registry.name if registry else None, asking.silent)


def _review_pair(pair: Pair, scene: ReviewContext) -> ContractReview:
    if pair.after is not None:
        return _review_present(pair, pair.after, scene)
    return _review_removed(pair, pair.document, scene)


def _review_present(pair: Pair, after: Document, scene: ReviewContext) -> ContractReview:
    rules, before, contract = scene.rules, pair.before, after.contract
    verdict = judge_pair(pair, rules)
    asked = scene.asking.about(pair)
    broken = check_compatibility(pair, verdict, rules) if verdict else apply_project_waivers((), contract.id, rules)
    bound = apply_project_waivers(_policy(pair, after, scene), contract.id, rules)
    legible = check_lint(pair, rules)
    said: SectionFindings = [(Section.DOCUMENT, one) for one in scene.duplicates_of(after)]
    said += [(Section.COMPATIBILITY, one) for one in broken.findings]
    said += [(Section.POLICY, one) for one in bound.findings]
    said += [(Section.LINT, one) for one in legible.findings]
    known = {(one.id, one.path) for _, one in said}
    said += [(Section.REGISTRY, one) for one in (asked.findings if asked else ()) if (one.id, one.path) not in known]
    hit = affected_by(verdict, before.contract, scene.declared, scene.documents) if verdict and before else ()
    ours = after.format is None
    return ContractReview(
        path=after.path,
        standing=_standing(pair, verdict),
        contract=contract.id,
        format=after.format,
        was=scene.moved_from(pair),
        before=before.contract.version if before and ours else None,
        after=contract.version if ours else None,
        verdict=verdict,
        required_version=_required(verdict, asked) if ours else None,
        renames=suggest_renames(before.contract, contract) if before else (),
        said=tuple(said),
        waived=(*broken.waived, *bound.waived, *legible.waived),
        older_lint=legible.older,
        affected=merge_affected((*hit, *with_steps(asked.affected if asked else (), verdict))),
        more_affected=asked.more if asked else 0,
        registry=asked,
        losses=after.losses,
    )


def _review_removed(pair: Pair, before: Document, scene: ReviewContext) -> ContractReview:
    contract = before.contract
    asked = scene.asking.about(pair)
    finding = removal_finding(before)
    if asked is not None and asked.registered and not asked.findings:
        message = f"{finding.message}; it is retired in the registry"
        finding = replace(finding, severity=Severity.INFO, message=message, hint=None)
    gone = apply_project_waivers((finding,), contract.id, scene.rules)
    hit = affected_by_removal(contract, scene.declared, scene.documents)
    findings: SectionFindings = [(Section.DOCUMENT, one) for one in gone.findings]
    findings += [(Section.REGISTRY, replace(one, place=finding.place)) for one in (asked.findings if asked else ())]
    return ContractReview(
        path=before.path,
        standing=ContractState.REMOVED,
        contract=contract.id,
        format=before.format,
        before=contract.version if before.format is None else None,
        said=tuple(findings),
        waived=gone.waived,
        affected=merge_affected((*hit, *(asked.affected if asked else ()))),
        more_affected=asked.more if asked else 0,
        registry=asked,
    )


def _unreadable(path: str, problems: Iterable[Finding]) -> ContractReview:
    return ContractReview(path, ContractState.UNREADABLE, said=tuple((Section.DOCUMENT, one) for one in problems))


def _file_problems(one: ReadChange) -> Iterable[Finding]:
    """Return the problems of a file; they are errors if the file had contracts before."""
    held = bool(one.before.documents)
    return (replace(finding, severity=Severity.ERROR) if held else finding for finding in one.after.problems)


def _as_warning(finding: Finding) -> Finding:
    """Return a problem of an unchanged file as a warning, because the branch did not cause it."""
    return replace(finding, severity=Severity.WARNING)


def _standing(pair: Pair, verdict: Verdict | None) -> ContractState:
    if pair.before is None or verdict is None:
        return ContractState.ADDED
    same = verdict.is_unchanged or (pair.document.format is not None and not verdict.judged)
    return ContractState.UNCHANGED if same else ContractState.CHANGED


def _policy(pair: Pair, after: Document, scene: ReviewContext) -> Iterator[Finding]:
    if after.format is not None:
        return
    yield from policy_findings(after, scene.policies, scene.asking.answers)
    before = pair.before.contract if pair.before else None
    yield from children_in_breach(after, before, scene.untouched, scene.policies)


def _required(verdict: Verdict | None, asked: RegistryAnswer | None) -> str | None:
    own = verdict.required_version if verdict and verdict.judged else None
    return higher_version(own, asked.required_version if asked else None)


def higher_version(one: str | None, other: str | None) -> str | None:
    """Return the higher of two versions, ignoring texts that are not versions."""
    found = [text for text in (one, other) if text and try_parse_version(text)]
    return max(found, key=lambda text: try_parse_version(text) or 0, default=None)
