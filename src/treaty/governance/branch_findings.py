"""What a review of a branch may hold against it beside changes, policies and lint: each with its public page."""

from __future__ import annotations

BRANCH_FINDINGS: dict[str, str] = {
    "contract_removed": (
        "A contract is gone from the repository while its line is still in use.\n\n"
        "Why it hurts: the data may go on without a promise, and nobody who reads them is told.\n\n"
        "Instead: deprecate and retire the line first; a draft, or what is retired or archived, may be removed."
    ),
    "version_duplicate": (
        "Two files hold the same version of a contract and do not say the same.\n\n"
        "Why it hurts: nobody can tell which of them holds.\n\n"
        "Instead: keep one, or give one a version of its own."
    ),
    "version_taken": (
        "The version is registered already, with other content.\n\n"
        "Why it hurts: history does not change, so the branch could be merged and never be registered.\n\n"
        "Instead: take the version that the review computes; `treaty check --fix` writes it."
    ),
    "policy_unknown": (
        "The policy that a contract inherits from is neither in the repository nor in a registry that was asked.\n\n"
        "Why it hurts: nobody can tell whether the contract keeps what its policy asks for.\n\n"
        "Instead: name a registry that has the policy, or keep the policy in the repository."
    ),
    "policy_breaks_child": (
        "A policy got stricter than one of the contracts below it.\n\n"
        "Why it hurts: the contract is in breach from the day the policy holds.\n\n"
        "Instead: change the contract too, or give it a waiver with an end."
    ),
    "registry_refuses": (
        "The registry would not take this version.\n\n"
        "Why it hurts: the branch could be merged and its contract not be registered.\n\n"
        "Instead: do what its reasons say."
    ),
}
"""The ids, which a waiver may name too, and what each means."""
