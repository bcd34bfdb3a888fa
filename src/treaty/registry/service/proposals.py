"""Breaking changes that wait for approval: the person who proposes one cannot approve it."""

from __future__ import annotations

from treaty.errors import Conflict, InvalidDocument
from treaty.registry.access.actors import Actor
from treaty.registry.documents import prepare
from treaty.registry.service.judgement import Judgement
from treaty.registry.store import governance_records
from treaty.registry.store.governance_records import ProposalRecord, ProposalState
from treaty.registry.store.transaction import Transaction


def open_proposal(transaction: Transaction, actor: Actor, judgement: Judgement) -> int:
    """Store a breaking change until it is approved, and return its id; the same document is proposed once."""
    candidate, contract = judgement.candidate, judgement.candidate.contract
    existing = governance_records.open_proposal_for(transaction.connection, contract.id, contract.version)
    if existing is not None:
        is_same = prepare(existing.document, existing.media).digest == candidate.digest
        if is_same and existing.proposer.is_same_as(actor):
            return existing.id
        raise Conflict(
            f"{contract.id} {contract.version} is proposed already (proposal {existing.id}); decide that first"
        )
    identity = transaction.record(
        actor.name, "contract.propose", f"{contract.id} {contract.version}", after=candidate.digest
    )
    proposal = ProposalRecord(
        id=identity,
        contract=contract.id,
        version=contract.version,
        media=candidate.media,
        document=candidate.content,
        mode=judgement.verdict.mode.value,
        proposed_at=transaction.now,
        proposed_by=actor.name,
        proposer_identity=actor.identity,
    )
    governance_records.add_proposal(transaction, proposal)
    owners = {owner.team for owner in contract.owners} | (judgement.before.teams if judgement.before else set())
    transaction.notify(
        "contract.proposed",
        contract.id,
        f"{contract.id} {contract.version} breaks consumers and waits for approval",
        version=contract.version,
        details={"proposal": identity, "issues": [issue.message for issue in judgement.report.errors]},
        parties=owners,
    )
    return identity


def parse_proposal_state(text: str | None) -> ProposalState | None:
    """Parse the state to filter by; None means all states."""
    if text is None:
        return None
    try:
        return ProposalState(text)
    except ValueError:
        known = ", ".join(ProposalState)
        raise InvalidDocument(f"unknown state {text[:40]!r} of proposals; use one of: {known}") from None
