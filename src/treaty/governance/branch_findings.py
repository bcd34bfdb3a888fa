"""Findings of a branch review that are neither changes, policy violations nor lint, with their public pages."""

from __future__ import annotations

MODE_NONE_REFUSED = "mode_none_refused"

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
    "policy_rule_violated": (
        "A contract, object or field lacks what a rule of a policy requires.\n\n"
        "Why it hurts: policies state what every contract below them guarantees, such as a classification of personal "
        "data or a currency of amounts.\n\n"
        "Instead: add what the message names. The policy decides the severity; a steward may grant a waiver with an "
        "end date."
    ),
    MODE_NONE_REFUSED: (
        "The version was submitted under the mode `none` while consumers depend on the line.\n\n"
        "Why it hurts: `none` checks nothing but version, key and owner. It is meant for onboarding, before anyone "
        "depends on the data.\n\n"
        "Instead: use the mode of the registry. A steward may allow it with a waiver of `mode_none_refused` for the "
        "contract, which the audit log records."
    ),
    "registry_refuses": (
        "The registry would refuse this version.\n\n"
        "Why it hurts: the contract could not be registered after the merge.\n\n"
        "Instead: resolve the reasons that the registry gives."
    ),
    "published_rows_refused": (
        "The proposed version would refuse rows that are published today.\n\n"
        "Why it hurts: these rows would be quarantined, so consumers no longer find them.\n\n"
        "Instead: correct the rows or the migration first, or relax the rule. `treaty check --data PROJECT` lists the "
        "rules and fields with masked examples."
    ),
    "consumer_line_unknown": (
        "A consumer subscribes to a line that the registry does not have.\n\n"
        "Why it hurts: no notice of a change can reach the consumer.\n\n"
        "Instead: correct the id or the MAJOR, or ask the owner for access if the contract is private."
    ),
    "consumer_field_unknown": (
        "A consumer reads a field that the line does not have.\n\n"
        "Why it hurts: the consumer fails, or reads something that is not part of the contract.\n\n"
        "Instead: use a field of the contract; `treaty show` lists them."
    ),
    "consumer_line_ending": (
        "A line that a consumer reads is deprecated, in sunset or retired, or will be.\n\n"
        "Why it hurts: the data end on the day of retirement. A retired line, and a line in sunset for a new consumer, "
        "is an error.\n\n"
        "Instead: move to the replacement that the message names."
    ),
    "consumer_change_proposed": (
        "A version that breaks consumers of the line is proposed and not registered yet.\n\n"
        "Why it hurts: it is registered once it is approved or the critical consumers acknowledged it.\n\n"
        "Instead: read its migration guide, then acknowledge it with `treaty migrate acknowledge`."
    ),
    "consumer_migration_open": (
        "A migration from the line to a new one is open, and the consumer is part of it.\n\n"
        "Why it hurts: the old line can be retired when the window ends.\n\n"
        "Instead: read the new line, then record it with `treaty migrate move`."
    ),
    "consumer_newer_line": (
        "A line with a higher MAJOR is available.\n\n"
        "Why it hurts: it does not yet; the line that the consumer reads will end one day.\n\n"
        "Instead: plan the move; the hint lists what the consumer has to change."
    ),
    "consumer_newer_version": (
        "The line has a newer version than the one that the consumer was built for.\n\n"
        "Why it hurts: it does not, as versions of a line are compatible; the consumer may miss new fields.\n\n"
        "Instead: read the changes, then set `version` in the subscription file to the newer one."
    ),
    "consumer_hidden_dependency": (
        "A consumer reads something of a publisher that no contract promises: an excluded or undeclared field, a table "
        "inside of the publisher, or the parts of an opaque identifier.\n\n"
        "Why it hurts: the publisher may change or be replaced without notice, and the consumer fails or is wrong.\n\n"
        "Instead: read what the contract promises, or ask its owner to promise more. `treaty consumer hidden` lists "
        "all of them."
    ),
    "consumer_latency_unmet": (
        "A consumer needs the data sooner than the contract promises.\n\n"
        "Why it hurts: the data may be late for the consumer without breaking any promise.\n\n"
        "Instead: agree on a latency with the owner. `consumers.unsuitable: refuse` makes it an error."
    ),
    "consumer_latency_unreadable": (
        "The latency of a subscription is not a duration.\n\n"
        "Why it hurts: it cannot be compared with what the contract promises.\n\n"
        "Instead: write a duration, such as `15 min`."
    ),
    "consumer_not_intended": (
        "The class of a consumer is not among those that the contract is intended for.\n\n"
        "Why it hurts: the contract was not designed for this use, and its owner does not plan for it.\n\n"
        "Instead: ask the owner to add the class to `intended_consumers`, or use another contract."
    ),
    "consumer_purpose_not_intended": (
        "The purpose of a consumer is none of those that the contract is intended for.\n\n"
        "Why it hurts: the contract was not designed for this use, and its owner does not plan for it.\n\n"
        "Instead: ask the owner to add the purpose to `intended_consumers`, or use another contract."
    ),
    "consumer_violates_policy": (
        "A consumer violates a rule that a policy of the contract has for consumers.\n\n"
        "Why it hurts: the policy says who may read such data, and for what.\n\n"
        "Instead: state what the rule requires, such as a purpose, or ask the owner of the policy."
    ),
    "consumer_reads_directly": (
        "A consumer of a critical class reads raw data, a change feed or a product directly.\n\n"
        "Why it hurts: these layers follow the model of their producer, so that its internal changes reach decisions, "
        "reports or services.\n\n"
        "Instead: read a reconciliation or publication that is derived from it. `consumers.direct_reads` chooses "
        "between `allow`, `warn` and `refuse`."
    ),
}
"""Finding ids and their pages. A waiver may name any of these ids."""
