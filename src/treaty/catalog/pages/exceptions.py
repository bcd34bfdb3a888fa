"""Exceptions of reconciliations: what is in doubt, since when, who owns it, and the form that accepts one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from treaty.catalog import links
from treaty.catalog.actions import ActionSubject, FormField, FormValues, PageAction
from treaty.catalog.project_data import Dataset, ExceptionQuery, ExceptionRow, ProjectData
from treaty.catalog.rendering import Page
from treaty.catalog.source import Source
from treaty.contracts.values import abbreviate
from treaty.errors import NotFound
from treaty.observability.amounts import format_amount
from treaty.registry.access.actors import Actor
from treaty.registry.access.permissions import Action, Resource, authorize

ASSETS = ("incidents.css", "project-data.css")
ACCEPT = "accept-exception"
STATES = {"open": "Open", "accepted": "Accepted", "resolved": "Resolved", "any": "Any"}
REASON_CLASSES = ("missing", "conflict", "late", "duplicate", "identity")
AGES = {"1": "1 day", "7": "7 days", "30": "30 days"}
_PAGE_SIZE = 50
_CONTRACT_VIOLATION = "contract"


@dataclass(frozen=True)
class ExceptionsFilter:
    """Filter of the page, from the query string."""

    name: str | None = None
    """The reconciliation."""
    contract: str | None = None
    state: str | None = None
    reason: str | None = None
    owner: str | None = None
    age: str | None = None
    """Only exceptions that are older than this number of days."""
    cursor: str | None = None


@dataclass(frozen=True, slots=True)
class Claim:
    """What one claim says about the key."""

    name: str
    values: tuple[tuple[str, str], ...]
    note: str | None = None


@dataclass(frozen=True, slots=True)
class ShownException:
    """An exception in the list."""

    row: ExceptionRow
    claims: tuple[Claim, ...]
    age: str
    can_accept: bool


def visible_datasets(source: Source, datasets: Sequence[Dataset]) -> tuple[Dataset, ...]:
    """Return the datasets whose contracts the reader may see."""
    return tuple(dataset for dataset in datasets if _is_visible(source, dataset.contract))


def choose_dataset(datasets: Sequence[Dataset], name: str | None, contract: str | None) -> Dataset | None:
    """Return the named dataset, or that of a contract, or else the first; raise NotFound for an unknown one."""
    if not name and not contract:
        return datasets[0] if datasets else None
    match = next((one for one in datasets if name in (None, one.name) and contract in (None, one.contract)), None)
    if match is None:
        raise NotFound(f"the project has no data of {(name or contract or '')[:80]!r} that you may see")
    return match


def exceptions_page(
    source: Source, data: ProjectData | None, now: datetime, exceptions_filter: ExceptionsFilter | None = None
) -> Page:
    """Return the exceptions of one reconciliation, or how to turn this page on."""
    exceptions_filter = exceptions_filter or ExceptionsFilter()
    datasets = visible_datasets(source, data.reconciliations()) if data else ()
    chosen = choose_dataset(datasets, exceptions_filter.name, exceptions_filter.contract)
    listed: tuple[ShownException, ...] = ()
    more = None
    if data is not None and chosen is not None:
        page = data.exceptions(
            _query(chosen.name, exceptions_filter), now, cursor=exceptions_filter.cursor, limit=_PAGE_SIZE
        )
        listed = tuple(map(_shown, page.rows))
        more = page.next
    query = asdict(exceptions_filter)
    return Page(
        links.exceptions(**query),
        "data/exceptions.html",
        "Exceptions",
        "health",
        {
            "has_data": data is not None,
            "filter": exceptions_filter,
            "datasets": datasets,
            "chosen": chosen,
            "exceptions": listed,
            "states": STATES,
            "classes": REASON_CLASSES,
            "ages": AGES,
            "next_page": links.exceptions(**(query | {"cursor": more})) if more else None,
            "first_page": links.exceptions(**asdict(replace(exceptions_filter, cursor=None))),
        },
        ASSETS,
    )


def _is_visible(source: Source, contract: str) -> bool:
    try:
        return bool(source.lines(contract))
    except NotFound:
        return False


def _query(name: str, exceptions_filter: ExceptionsFilter) -> ExceptionQuery:
    state = exceptions_filter.state if exceptions_filter.state in STATES else "open"
    return ExceptionQuery(
        name,
        None if state == "any" else state,
        exceptions_filter.reason if exceptions_filter.reason in REASON_CLASSES else None,
        exceptions_filter.owner or None,
        timedelta(days=int(exceptions_filter.age)) if exceptions_filter.age in AGES else None,
    )


def _shown(row: ExceptionRow) -> ShownException:
    can_accept = row.state == "open" and row.assertion != _CONTRACT_VIOLATION
    return ShownException(row, tuple(claims_of(row.claims)), format_amount(row.age_seconds, "s"), can_accept)


def claims_of(claims: Mapping[str, Any]) -> Iterator[Claim]:
    """Yield what the claims of an exception say, side by side; a violated contract has violations instead."""
    stated = claims.get("claims")
    for name, claim in stated.items() if isinstance(stated, Mapping) else ():
        values = claim.get("values") if isinstance(claim, Mapping) else None
        rows = claim.get("rows") if isinstance(claim, Mapping) else None
        note = "no row for this key" if values is None else f"{rows} rows" if isinstance(rows, int) else None
        yield Claim(str(name), _values(values), note)
    if attributes := claims.get("attributes"):
        yield Claim("computed", _values(attributes))
    violations = claims.get("violations")
    for violation in violations if isinstance(violations, list) else ():
        if isinstance(violation, Mapping):
            value = (("value", abbreviate(violation.get("value"))),)
            yield Claim(str(violation.get("field", "")), value, str(violation.get("message", "")))


def _values(values: Any) -> tuple[tuple[str, str], ...]:
    if not isinstance(values, Mapping):
        return ()
    return tuple((str(name), "null" if value is None else abbreviate(value)) for name, value in values.items())


def accept_exception_action(data: ProjectData, actor: Actor, now: datetime) -> PageAction:
    """Return the action that accepts an exception of a project, in the name of an actor.

    It is allowed to owners of the contract of the reconciliation, to the owner of the exception, and to stewards.
    """

    def find(source: Source, values: FormValues) -> tuple[ExceptionRow, Resource]:
        name = values.required("reconciliation", "The reconciliation")
        dataset = choose_dataset(visible_datasets(source, data.reconciliations()), name, None)
        assert dataset is not None  # noqa: S101  a name was given
        row = data.find_exception(
            name, values.required("key", "The key"), values.required("assertion", "The assertion"), now
        )
        owners = source.get(dataset.contract, source.lines(dataset.contract)[0].latest).owners
        teams = frozenset(owner.team for owner in owners) | ({row.owner} if row.owner else frozenset())
        return row, Resource("contract", dataset.contract, teams)

    def load_subject(source: Source, values: FormValues) -> ActionSubject:
        row, resource = find(source, values)
        said = [(claim.name, _describe(claim)) for claim in claims_of(row.claims)]
        facts = (
            ("Key", row.key),
            ("In doubt", f"{row.assertion}: {row.statement}"),
            *said,
            ("Owner", row.owner or "none"),
            ("State", row.state),
            ("Age", format_amount(row.age_seconds, "s")),
        )
        back = links.exceptions(name=row.reconciliation)
        return ActionSubject(f"{row.assertion} of {row.key}", Action.NOTIFY, resource, back, facts)

    def run(source: Source, values: FormValues) -> str:
        row, resource = find(source, values)
        authorize(actor, Action.NOTIFY, resource)
        data.accept_exception(row, reason=values.required("reason", "The reason"), actor=actor.name, now=now)
        return f"{row.assertion} of {row.key} is accepted; the next run resolves the key."

    return PageAction(
        ACCEPT,
        "Accept",
        "Accept this exception, so that its key resolves. The value of the claim with the highest authority is used "
        "until one of the claims changes.",
        "Accept",
        Action.NOTIFY,
        ("reconciliation", "key", "assertion"),
        load_subject,
        run,
        (FormField("reason", "Reason", "long", required=True, hint="Why it is acceptable. Stored with your name."),),
    )


def _describe(claim: Claim) -> str:
    values = ", ".join(f"{name} = {value}" for name, value in claim.values)
    return "; ".join(filter(None, (values, claim.note))) or "—"
