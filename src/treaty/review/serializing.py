"""Reviews as plain data, for JSON and for whoever draws them."""

from __future__ import annotations

from typing import Any

from treaty.compatibility.serializing import verdict_as_data
from treaty.review.report import Affected, ContractReview, Review, Section


def review_as_data(review: Review) -> dict[str, Any]:
    """Return a review as JSON would say it."""
    return {
        "base": review.base,
        "commit": review.commit,
        "may_merge": review.may_merge,
        "registry": None if review.registry is None else {"name": review.registry, "silent": review.silent},
        "contracts": [contract_as_data(one) for one in review.contracts],
    }


def contract_as_data(one: ContractReview) -> dict[str, Any]:
    """Return what a review says of one contract."""
    verdict = verdict_as_data(one.verdict, (), one.renames) if one.verdict else {}
    return {
        "path": one.path,
        "was": one.was,
        "contract": one.contract,
        "format": one.format,
        "standing": one.standing.value,
        "before": one.before,
        "after": one.after,
        "may_merge": one.may_merge,
        "mode": verdict.get("mode"),
        "compatible": verdict.get("compatible"),
        "admissible": verdict.get("admissible") if one.format is None else None,
        "required_bump": verdict.get("required_bump"),
        "required_version": one.required_version,
        "changes": verdict.get("changes", []),
        "suggested_renames": verdict.get("suggested_renames", []),
        **{f"{section.value}": [finding.as_data() for finding in one.of(section)] for section in Section},
        "waived": [
            {
                **waived.finding.as_data(),
                "owner": waived.waiver.owner,
                "reason": waived.waiver.reason,
                "until": waived.waiver.until.isoformat(),
            }
            for waived in one.waived
        ],
        "older_lint": one.older_lint,
        "affected": [_affected(party) for party in one.affected],
        "more_affected": one.more_affected,
        "registered": _registered(one),
        "losses": list(one.losses),
    }


def _registered(one: ContractReview) -> dict[str, Any] | None:
    if one.registry is None:
        return None
    says = one.registry
    return {"before": says.before, "same": says.registered, "required_version": says.required_version}


def _affected(one: Affected) -> dict[str, Any]:
    return {
        "name": one.name,
        "kind": one.kind,
        "effect": one.effect,
        "class": one.consumer_class,
        "critical": one.critical,
        "contact": one.contact,
        "fields": list(one.fields),
        "steps": [{"field": step.field, "action": step.action} for step in one.steps],
        "known_from": one.known_from,
    }
