"""Critical consumers that read raw data, change feeds, products or legacy feeds directly: policies, and notices."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import date

from treaty.consumers.subscriptions import ConsumerClass, Subscription
from treaty.consumers.usage_rules import SOURCE_NOUNS, Usage, check_layer_rules
from treaty.contracts.findings import Severity
from treaty.contracts.versions import Line
from treaty.governance.waivers import apply_consumer_waivers
from treaty.legacy.dependency_map import LEGACY, MapEntry, build_map
from treaty.registry.rules import DirectReads, RegistryRules
from treaty.registry.service.confirmations import shown_consumer
from treaty.registry.service.lifecycle import head_of
from treaty.registry.service.line_lineage import publications_of
from treaty.registry.service.observed_usage import first_moment
from treaty.registry.service.policies import effective_of
from treaty.registry.store import Connection, dependency_map, governance_records, lineage, versions
from treaty.registry.store.transaction import Transaction
from treaty.registry.store.visibility import Visibility, public_sight

READS_DIRECTLY = "consumer.reads_directly"
_MAX_NOTICES = 50

Reads = Mapping[tuple[str, str], MapEntry]


def forbidden_by(connection: Connection, rules: RegistryRules, entry: MapEntry, today: date) -> str | None:
    """Return the rule of a policy that forbids a critical consumer to read directly; None if a waiver covers it.

    For a legacy feed, the policies of the publication count that replaces it.
    """
    line = entry.served_by if entry.source_kind == LEGACY else entry.line
    if not (entry.consumer_class.is_critical and entry.is_direct) or line is None:
        return None
    members = versions.versions_in_line(connection, line)
    if not members:
        return None
    effective = effective_of(connection, rules, head_of(members), today)
    subscription = Subscription(entry.consumer, line, entry.consumer_class, purpose=entry.decision)
    findings = check_layer_rules(Usage(subscription, effective.contract, entry.source_kind), effective.policies, today)
    errors = [finding for finding in findings if finding.severity is Severity.ERROR]
    waivers = governance_records.waivers_in_force(connection, today) if errors else []
    remaining, _ = apply_consumer_waivers(errors, line.contract, entry.consumer, waivers, today)
    return remaining[0].message if remaining else None


def critical_direct_reads(connection: Connection, rules: RegistryRules, today: date) -> Reads:
    """Return the direct reads of critical consumers, by consumer and source."""
    inputs = dependency_map.map_inputs(connection, Visibility(), first_moment(today, rules.usage_window))
    return {
        (entry.consumer, entry.source): entry
        for entry in build_map(inputs)
        if entry.consumer_class.is_critical and entry.is_direct
    }


def notify_of_new_reads(transaction: Transaction, rules: RegistryRules, before: Reads) -> None:
    """Notify the owners and the teams of direct reads of critical consumers that were not known before."""
    if rules.direct_reads is DirectReads.ALLOW:
        return
    after = critical_direct_reads(transaction.connection, rules, transaction.now.date())
    _notify_of_entries(transaction, [entry for key, entry in after.items() if key not in before])


def notify_of_scanned_reads(transaction: Transaction, rules: RegistryRules, new: Collection[tuple[str, str]]) -> None:
    """Notify of direct reads of critical consumers by the pairs of consumer and table that a scan found first.

    A read that is declared or observed as well was known before.
    """
    if rules.direct_reads is DirectReads.ALLOW or not new:
        return
    connection = transaction.connection
    lines = dependency_map.lines_of_tables(connection, {source for _, source in new})
    keys = {(consumer, str(lines.get(source, source))) for consumer, source in new}
    entries = critical_direct_reads(connection, rules, transaction.now.date())
    _notify_of_entries(
        transaction, [entry for key, entry in entries.items() if key in keys and entry.evidence == ("scanned",)]
    )


def _notify_of_entries(transaction: Transaction, new: Sequence[MapEntry]) -> None:
    for entry in new[:_MAX_NOTICES]:
        about = entry.line or entry.served_by
        if about is not None:
            _notify(transaction, entry.consumer, entry.team, entry.source, entry.source_kind, about, entry.served_by)


def notify_of_read(
    transaction: Transaction,
    rules: RegistryRules,
    consumer: str,
    line: Line,
    consumer_class: ConsumerClass,
    team: str | None,
) -> None:
    """Notify the owners and the team if a critical consumer begins to read a line directly."""
    if not consumer_class.is_critical or rules.direct_reads is DirectReads.ALLOW:
        return
    layer = lineage.layer_of(transaction.connection, line)
    if layer is None or not layer.is_internal:
        return
    served_by = next(iter(publications_of(transaction.connection, line)), None)
    _notify(transaction, consumer, team, str(line), layer.value, line, served_by)


def _notify(
    transaction: Transaction,
    consumer: str,
    team: str | None,
    source: str,
    kind: str,
    about: Line,
    served_by: Line | None,
) -> None:
    connection, public = transaction.connection, public_sight(transaction)
    shown = served_by if served_by is not None and public.sees(served_by.contract) else None
    instead = f"; {shown} would serve it" if shown else "; no publication serves it yet"
    parties = versions.owners_of(connection, about) | {consumer} | ({team} if team else set())
    if served_by is not None:
        parties |= versions.owners_of(connection, served_by)
    transaction.notify(
        READS_DIRECTLY,
        about.contract,
        f"{shown_consumer(transaction, consumer)} is critical, and reads {source} directly, "
        f"which is {SOURCE_NOUNS[kind]}{instead}",
        details={"source": source, "kind": kind, **({"served_by": str(shown)} if shown else {})},
        parties=parties,
    )
