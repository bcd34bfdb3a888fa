"""One verdict over versions, consumers, policies and dates: may this be published, may that be retired?"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

from treaty.consumers.impact import Exposure
from treaty.contracts.versions import Line
from treaty.governance.lifecycle import Status
from treaty.registry.model import AffectedAnswer, DecisionAnswer, ReasonAnswer
from treaty.registry.model.consumer_answers import WAITS_FOR_APPROVAL, WAITS_FOR_CONSUMERS
from treaty.registry.not_found import no_line
from treaty.registry.rules import RegistryRules
from treaty.registry.service.dependencies import impact_answer, struck
from treaty.registry.service.judgement import Judgement
from treaty.registry.service.lifecycle import SERVING, obstacles_to_retiring, status_of_line, stranded, waived
from treaty.registry.service.migration_start import Waiting, readers, waits
from treaty.registry.store import Connection, migration_records, versions


def can_i_publish(
    connection: Connection, rules: RegistryRules, judgement: Judgement, exposure: Exposure
) -> DecisionAnswer:
    """Decide whether a candidate may be published: admissible, no consumer affected, nothing to wait for."""
    contract = judgement.candidate.contract
    affected = impact_answer(judgement, exposure).affected
    reasons = [*_against_publishing(connection, judgement, struck(exposure))]
    if judgement.admissible:
        reasons += _waiting(waits(rules, judgement, readers(connection, judgement)))
    return DecisionAnswer(
        question=f"can {contract.id} {contract.version} be published?",
        answer=not any(reason.severity == "error" for reason in reasons),
        reasons=reasons,
        affected=affected,
        required_version=judgement.verdict.required_version,
    )


def can_i_retire(connection: Connection, line: Line, version: str | None, today: date) -> DecisionAnswer:
    """Decide whether a line, or one version of it, may be retired today."""
    members = versions.versions_in_line(connection, line)
    leaving = [member for member in members if member.version == version] if version else members
    if not leaving:
        raise no_line(line, version)
    name = f"{line.contract} {version}" if version else str(line)
    staying = [version for version in leaving if version.status in SERVING or version.status is Status.DRAFT]
    if staying:
        obstacles = obstacles_to_retiring(connection, staying, today)
        reasons = [ReasonAnswer(kind="not_retirable", message=obstacle) for obstacle in obstacles]
        reasons += _of_migrations(connection, line, today)
    else:
        reasons = [
            ReasonAnswer(kind="gone", message=f"{name} is {status_of_line(leaving)} already", severity="warning")
        ]
    return DecisionAnswer(
        question=f"can {name} be retired?",
        answer=not any(reason.severity == "error" for reason in reasons),
        reasons=reasons,
        affected=[
            AffectedAnswer(
                name=subscriber.consumer,
                kind="consumer",
                effect="hit",
                consumer_class=subscriber.consumer_class.value,
                contact=subscriber.contact,
                critical=subscriber.consumer_class.is_critical,
                path=[str(line), subscriber.consumer],
            )
            for subscriber in (stranded(connection, staying) if staying else [])
        ],
    )


def _of_migrations(connection: Connection, line: Line, today: date) -> Iterator[ReasonAnswer]:
    """Return warnings about migrations from a line and the consumers they are waived for."""
    for migration in migration_records.live_from(connection, line):
        ends = f"; its window ends on {migration.ends_on}" if migration.ends_on else ""
        text = f"migration {migration.id} to {migration.to_line} is {migration.state}{ends}"
        yield ReasonAnswer(kind="migration", message=text, severity="warning")
    for name, row in waived(connection, line, today).items():
        text = f"{name} still reads {line}, and is waived until {row.until}: {row.reason}"
        yield ReasonAnswer(kind="consumer_waived", message=text, severity="warning")


def _against_publishing(
    connection: Connection, judgement: Judgement, affected: list[AffectedAnswer]
) -> Iterator[ReasonAnswer]:
    contract, before = judgement.candidate.contract, judgement.before
    if before is not None and versions.is_registered(connection, contract.id, contract.version):
        required = judgement.verdict.required_version
        text = f"version {contract.version} is registered already"
        text += f"; the next is {required}" if required != before.version else f", and nothing differs from {required}"
        yield ReasonAnswer(kind="version_taken", message=text)
    excused = {change.change.kind for change in judgement.verdict.judged} if judgement.admissible else set()
    for issue in judgement.report.issues:
        stands = issue.severity == "error" and issue.kind not in excused
        yield ReasonAnswer(kind=issue.kind, message=issue.message, severity="error" if stands else "warning")
    yield from _hits(judgement, affected)


def _waiting(waiting: Waiting) -> Iterator[ReasonAnswer]:
    """Return what an admissible version still waits for."""
    then = "register it: it is proposed, and registered once"
    if waiting.consumers:
        names = ", ".join(waiting.consumers)
        text = f"it waits for acknowledgement by {names}; {then} they acknowledge it: treaty migrate acknowledge"
        yield ReasonAnswer(kind=WAITS_FOR_CONSUMERS, message=text)
    if waiting.approval:
        text = f"it breaks consumers and waits for approval; {then} someone else approves it: treaty proposal approve"
        yield ReasonAnswer(kind=WAITS_FOR_APPROVAL, message=text)


def _hits(judgement: Judgement, affected: list[AffectedAnswer]) -> Iterator[ReasonAnswer]:
    """Return the affected consumers: an error on the same line, a warning where a new line is opened."""
    moves = judgement.verdict.opens_line
    for consumer in affected:
        if consumer.effect in ("hit", "unknown"):
            reads = f" ({', '.join(consumer.fields)})" if consumer.fields and consumer.effect == "hit" else ""
            text = "is hit" if consumer.effect == "hit" else "may be hit: it never said which fields it reads"
            yield ReasonAnswer(
                kind=f"{consumer.kind}_{consumer.effect}",
                message=f"{consumer.name} {text}{reads}",
                severity="warning" if moves else "error",
            )
