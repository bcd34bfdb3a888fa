"""Who may turn the tokens of a field back into values: the rules that tokenise it, of a contract and its policies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from treaty.contracts.data_policies import MaskMethod
from treaty.contracts.model import Contract
from treaty.contracts.paths import FieldPath
from treaty.contracts.requirements import matches_text
from treaty.errors import InvalidDocument, NotAllowed, NotFound
from treaty.policy.effective_view import rules_about

MAX_TOKENS_AT_ONCE = 10_000


@dataclass(frozen=True, slots=True)
class TokenRule:
    """The key of the tokens of a field, and the roles that are needed, all of them, to turn tokens back."""

    key: str
    roles: tuple[str, ...]


def find_token_rule(contract: Contract, field: FieldPath, purpose: str, policies: Sequence[Contract] = ()) -> TokenRule:
    """Return the rule of a field whose tokens may be reversed for a purpose.

    `contract` is the effective contract, and `policies` are those that bind it. A purpose that one of them does not
    allow, and a rule without a role, raise NotAllowed.
    """
    _check_purpose(purpose, (contract, *policies))
    tokenising = [
        (rule, origin)
        for rule, origin in rules_about(contract, field, policies)
        if rule.mask.method is MaskMethod.TOKENISE
    ]
    if not tokenising:
        raise NotFound(
            f"no data policy tokenises {field} of {contract.id} {contract.version}",
            f"see what is inherited with: treaty show {contract.id} {contract.version} --effective",
        )
    for rule, origin in tokenising:
        if rule.mask.role is None:
            raise NotAllowed(
                f"{rule.path} of {origin} names no role that may reverse tokens; add one to the rule, "
                "such as role: steward"
            )
    roles = dict.fromkeys(rule.mask.role or "" for rule, _ in tokenising)
    return TokenRule(tokenising[0][0].mask.key or "", tuple(roles))


def _check_purpose(purpose: str, stated: Sequence[Contract]) -> None:
    if not purpose.strip():
        raise InvalidDocument("tokens are reversed for a purpose; state it")
    for contract in stated:
        policy = contract.treaty.data_policy
        if policy is not None and policy.purposes is not None and not matches_text(purpose, policy.purposes):
            raise NotAllowed(
                f"the purpose {purpose!r} is not allowed: data_policy.purposes of {contract.id} {contract.version} "
                f"allows {', '.join(policy.purposes)}"
            )
