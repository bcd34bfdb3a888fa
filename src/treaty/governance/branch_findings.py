"""Findings of a branch review that are neither changes, policy violations nor lint, with their public pages."""

from __future__ import annotations

BRANCH_FINDINGS: dict[str, str] = {
    "contract_removed": (
        "A contract was removed from the repository while its line is still in use.\n\n"
        "Why it hurts: the data may continue without a contract, and its consumers are not informed.\n\n"
        "Instead: deprecate and retire the line first. Drafts and retired or archived contracts may be removed."
    ),
    "version_duplicate": (
        "Two files contain the same version of a contract with different content.\n\n"
        "Why it hurts: it is unclear which of them is valid.\n\n"
        "Instead: keep one of them, or give one a different version."
    ),
    "version_taken": (
        "The version is already registered with different content.\n\n"
        "Why it hurts: registered versions are immutable, so the contract could not be registered after the merge.\n\n"
        "Instead: use the version that the review computes; `treaty check --fix` sets it."
    ),
    "policy_unknown": (
        "The policy that a contract inherits from is neither in the repository nor in the registry.\n\n"
        "Why it hurts: Treaty cannot check whether the contract complies with its policy.\n\n"
        "Instead: configure a registry that has the policy, or add the policy to the repository."
    ),
    "policy_breaks_child": (
        "A policy is now stricter than one of the contracts that inherit from it.\n\n"
        "Why it hurts: the contract violates the policy from the day the policy becomes active.\n\n"
        "Instead: change the contract as well, or give it a waiver with an end date."
    ),
    "registry_refuses": (
        "The registry would refuse this version.\n\n"
        "Why it hurts: the contract could not be registered after the merge.\n\n"
        "Instead: resolve the reasons that the registry gives."
    ),
}
"""Finding ids and their pages. A waiver may name any of these ids."""
