"""What the policies in a repository hold against its contracts, and a new policy against those below it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from treaty.contracts.findings import Finding, Severity
from treaty.contracts.model import Contract
from treaty.governance.inheritance import is_policy, weakened
from treaty.review.documents import Document
from treaty.review.placing import Spots


def policy_findings(document: Document, policies: Mapping[str, Contract], asks_registry: bool) -> Iterator[Finding]:
    """Yield each term that is weaker than a policy above asks; one that nobody can look up is said."""
    contract = document.contract
    spots = Spots(document)
    above: list[Contract] = []
    parent = contract.treaty.parent
    while parent is not None and parent != contract.id and parent not in {one.id for one in above}:
        if parent not in policies:
            if not asks_registry:
                yield Finding(
                    "policy_unknown",
                    Severity.WARNING,
                    f"the policy {parent!r} is not in this repository, and no registry was asked",
                    place=spots.key("parent"),
                    hint="ask a registry that has it, or keep the policy in the repository",
                )
            break
        above.append(policies[parent])
        parent = policies[parent].treaty.parent
    for one in weakened(contract, above):
        yield Finding(one.kind, Severity.ERROR, str(one), one.path, spots.of(one.path))


def children_in_breach(
    policy: Document, before: Contract | None, documents: Iterable[Document], policies: Mapping[str, Contract]
) -> Iterator[Finding]:
    """Yield each untouched contract that a changed policy newly finds weaker than it asks."""
    if not is_policy(policy.contract):
        return
    place = Spots(policy).key("version")
    for document in documents:
        if not _is_below(document.contract, policy.contract.id, policies):
            continue
        known = {one.message for one in weakened(document.contract, (before,))} if before else set()
        said = [one.message for one in weakened(document.contract, (policy.contract,)) if one.message not in known]
        if said:
            child = f"{document.contract.id} {document.contract.version}"
            message = f"{child} would be in breach of this policy: {'; '.join(said)}"
            hint = f"change {document.path} too, or give it a waiver"
            yield Finding("policy_breaks_child", Severity.WARNING, message, place=place, hint=hint)


def _is_below(contract: Contract, policy: str, policies: Mapping[str, Contract]) -> bool:
    parent, seen = contract.treaty.parent, {contract.id}
    while parent is not None and parent not in seen:
        if parent == policy:
            return True
        seen.add(parent)
        parent = policies[parent].treaty.parent if parent in policies else None
    return False
