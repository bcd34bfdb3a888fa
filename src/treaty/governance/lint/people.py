"""Rules about who answers for a contract."""

from __future__ import annotations

from collections.abc import Iterator

from treaty.contracts.findings import Severity
from treaty.contracts.model import Contract
from treaty.governance.lint.catalogue import Remark, Spot, contract_rule


@contract_rule(Severity.ERROR)
def owner_missing(contract: Contract, fields: tuple[Spot, ...]) -> Iterator[Remark]:
    """The contract has no owner.

    Why: when the data goes stale at night there is nobody to call, and nobody who may decide.

    Fix: add `owners:` with a team and its contact, or `team:` as ODCS has it.
    """
    if not contract.owners:
        yield Remark("the contract has no owner", "add owners: with a team and a contact", ("owners",))


@contract_rule(Severity.WARNING)
def owner_unreachable(contract: Contract, fields: tuple[Spot, ...]) -> Iterator[Remark]:
    """An owner has no contact.

    Why: a team name in a document does not ring anybody's phone.

    Fix: add a `contact`: a channel, a pager group or an address; or a `support` channel as ODCS has it.
    """
    if any(channel.get("channel") or channel.get("url") for channel in contract.support or ()):
        return
    for index, owner in enumerate(contract.owners):
        if not owner.contact:
            yield Remark(
                f"owner {owner.team!r} has no contact", "add a channel, pager group or address", ("owners", index)
            )
