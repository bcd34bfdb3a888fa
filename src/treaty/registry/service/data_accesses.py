"""The log of accesses to published rows: as owners and stewards read it, what is reported to it, and as usage."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence

from treaty.contracts.versions import Line, parse_line
from treaty.errors import InvalidDocument, NotAllowed, NotFound
from treaty.observability.dataset_names import TREATY_NAMESPACE, DatasetName
from treaty.observability.lineage_reader import EventInput, EventOutput, JobName, LineageEvent
from treaty.registry.access.actors import NotAuthenticated
from treaty.registry.access.permissions import Action, Resource, authorize, objection
from treaty.registry.model import AccessDecision, AccessReport, DataAccessAnswer, Page
from treaty.registry.model.page import after, check_limit, page_of
from treaty.registry.not_found import ContractNotFound
from treaty.registry.service.context import EVERYTHING, Context
from treaty.registry.service.data_readers import acts_for
from treaty.registry.store import Connection, data_accesses, subscriptions, versions
from treaty.registry.store.data_accesses import DataAccess
from treaty.registry.store.visibility import Visibility, check_visible

SERVED = AccessDecision.SERVED.value
"""The decision of an access that gave rows, also of one whose client left before the end."""
ABORTED = "aborted"
ACCESS_REPORTER = "read-api"
"""The name under which accesses are reported as observed usage."""
MAX_REPORTS = 1_000


def list_accesses(
    context: Context, contract: str | None, consumer: str | None, decision: str | None, cursor: str | None, limit: int
) -> Page[DataAccessAnswer]:
    """List accesses, the newest first: of a contract for those who own it, of all contracts for stewards."""
    check_limit(limit)
    if decision is not None and len(decision) > 24:
        raise InvalidDocument("decision is not one of the log; leave it out to see which there are")
    (seq,) = after(cursor, 0)
    before = int(seq) if cursor else None

    def read(connection: Connection, visibility: Visibility) -> list[DataAccessAnswer]:
        resource = EVERYTHING if contract is None else _log_of(connection, visibility, contract)
        authorize(context.actor, Action.READ_ACCESSES, resource)
        decisions = {decision} if decision is not None else set[str]()
        rows = data_accesses.page_of_accesses(connection, visibility, contract, consumer, decisions, before, limit + 1)
        return list(map(_answer, rows))

    return page_of(context.read(read), limit, _place)


def _log_of(connection: Connection, visibility: Visibility, contract: str) -> Resource:
    check_visible(visibility, contract)
    highest = versions.highest(connection, contract)
    if highest is None:
        raise ContractNotFound(contract)
    return Resource("the access log of", contract, highest.teams)


def _place(access: DataAccessAnswer) -> tuple[int]:
    return (access.seq,)


def _answer(access: DataAccess) -> DataAccessAnswer:
    return DataAccessAnswer(
        seq=access.seq,
        at=access.at,
        actor=access.actor,
        consumer=access.consumer,
        line=str(access.line),
        version=access.version,
        fields=list(access.fields),
        filters=list(access.filters),
        rows=access.rows,
        purpose=access.purpose,
        run=access.run,
        decision=access.decision,
    )


def check_reports(context: Context, reports: Sequence[AccessReport]) -> list[DataAccess]:
    """Return reported accesses as entries of the log.

    Consumers report their own reads, whatever their role; those who may notify about a contract report the reads of all
    its consumers.
    """
    authorize(context.actor, Action.REPORT_ACCESSES, EVERYTHING)
    if context.actor.via == "anonymous":
        raise NotAuthenticated("sign in to report accesses: send 'Authorization: Bearer <token>' of the consumer")
    if len(reports) > MAX_REPORTS:
        raise InvalidDocument(f"{len(reports):,} accesses at once; send {MAX_REPORTS:,} at most")
    return [_reported(context, report, parse_line(report.line)) for report in reports]


def _reported(context: Context, report: AccessReport, line: Line) -> DataAccess:
    purpose = context.read_contract(line.contract, lambda connection: _purpose(connection, context, report, line))
    return DataAccess(
        context.now,
        context.actor.name,
        report.consumer,
        line,
        report.decision.value,
        report.version,
        tuple(report.fields),
        (),
        report.rows,
        purpose,
        report.run,
    )


def _purpose(connection: Connection, context: Context, report: AccessReport, line: Line) -> str | None:
    """Return the purpose of a subscription whose accesses the actor may report.

    Those who may not report for others get the same answer whether or not the consumer has a subscription.
    """
    subscribed = next(
        (one for one in subscriptions.subscribers(connection, line) if one.subscription.consumer == report.consumer),
        None,
    )
    if subscribed is None or not acts_for(context.actor, subscribed):
        highest = versions.highest(connection, line.contract)
        teams = highest.teams if highest is not None else frozenset()
        if against := objection(context.actor, Action.NOTIFY, Resource("contract", line.contract, teams)):
            raise NotAllowed(
                f"{context.actor.name} may not report that {report.consumer} read {line}: it is not that consumer, "
                f"nor of its team, and {against}"
            )
    if subscribed is None:
        raise NotFound(f"{report.consumer} has no subscription to {line}")
    return subscribed.subscription.purpose


def access_events(accesses: Sequence[DataAccess]) -> Iterator[LineageEvent]:
    """Yield one event for each consumer, line, day and set of fields; the same event again changes nothing."""
    seen: set[str] = set()
    for access in accesses:
        if access.decision not in (SERVED, ABORTED, AccessDecision.DELIVERED) or access.consumer is None:
            continue
        read = sorted({*access.fields, *access.filters})
        text = "\n".join((access.consumer, str(access.line), access.at.date().isoformat(), *read))
        identity = hashlib.sha256(f"{ACCESS_REPORTER}\n{text}".encode()).hexdigest()
        if identity in seen:
            continue
        seen.add(identity)
        dataset = DatasetName(TREATY_NAMESPACE, str(access.line))
        used = tuple((dataset, name) for name in read)
        yield LineageEvent(
            identity,
            "COMPLETE",
            access.at,
            None,
            JobName(TREATY_NAMESPACE, access.consumer),
            inputs=(EventInput((dataset,)),),
            outputs=(EventOutput((), filters=used),),
        )
