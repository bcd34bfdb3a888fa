"""What a migration command works on: two contracts, the way over, and who reads the old line."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from treaty.cli.inputs import STANDARD_INPUT, find_contract, is_document, load_source
from treaty.cli.registry_connection import is_address, needing, opened
from treaty.compatibility.migration import MigrationPath, migration_path
from treaty.consumers.migration_guides import build_guides, line_of
from treaty.consumers.subscriptions import ConsumerClass, Subscription, parse_fields
from treaty.contracts.versions import Line, parse_line
from treaty.errors import InvalidDocument, NotFound

if TYPE_CHECKING:
    from treaty.cli.render.migration_plan import Plan
    from treaty.compatibility.migration.proof import Proof
    from treaty.contracts import Contract
    from treaty.registry.model import Page, SubscriptionAnswer
    from treaty.settings import Settings

T = TypeVar("T")
_PAGE = 1_000


@dataclass(frozen=True)
class Where:
    """The registry that is asked."""

    registry: str | None
    token_file: Path | None
    settings: Settings

    @property
    def is_there(self) -> bool:
        """Whether a registry was named, or the one that is set exists."""
        set_one = self.settings.parts.registry
        return self.registry is not None or is_address(set_one) or "://" in set_one or Path(set_one).exists()


def contracts_of(before: str, after: str, where: Where) -> tuple[Contract, Contract]:
    """Read the two versions, each from a document or from the registry."""
    if before == after == STANDARD_INPUT:
        raise InvalidDocument("only one of the two can be standard input")
    old, new = (_contract(reference, where) for reference in (before, after))
    if old.id != new.id:
        raise InvalidDocument(f"{old.id!r} and {new.id!r} are two contracts; give two versions of one")
    return old, new


def path_between(old: Contract, new: Contract) -> MigrationPath:
    """Work out the way over; declared SQL goes through the guard."""
    plan = new.treaty.migration
    if plan is None or not any(move.sql or move.back for move in plan.fields):
        return migration_path(old, new)
    with needing("spark"):
        from treaty.spark.migration import guard_sql
    return migration_path(old, new, guard_sql)


@dataclass(frozen=True)
class Readers:
    """Who reads a line, and the day it ends, where a migration says so."""

    subscriptions: tuple[Subscription, ...]
    by: date | None = None


def readers_of(contract: Contract, new: Contract, where: Where, file: Path | None) -> Readers | None:
    """Return who reads a contract's line, by a file or by the registry; None where neither can say."""
    line = line_of(contract)
    if file is not None:
        from treaty.consumers.subscription_files import read_subscriptions

        try:
            content = file.read_bytes()
        except OSError as error:
            raise NotFound(f"cannot read {file}: {error.strerror}; give a file with subscriptions:") from None
        found = [one.subscription for one in read_subscriptions(content, str(file), where.settings.limits)]
        return Readers(tuple(one for one in found if one.line == line))
    if not where.is_there:
        return None
    with opened(where.registry, where.token_file, where.settings) as it:
        answers = _all(lambda at: it.consumers.subscriptions(contract=contract.id, cursor=at, limit=_PAGE))
        moves = _all(lambda at: it.migrations.list(contract=contract.id, state="open", cursor=at, limit=_PAGE))
    lines = str(line), str(line_of(new))
    ends = [one.ends_on for one in moves if (one.before, one.after) == lines]
    found = [one for one in map(_subscription, answers) if one.line == line]
    return Readers(tuple(found), ends[-1] if ends else None)


def only(readers: Sequence[Subscription], consumer: str | None) -> tuple[Subscription, ...]:
    """Keep one consumer, or all of them."""
    if consumer is None:
        return tuple(readers)
    found = tuple(one for one in readers if one.consumer == consumer)
    if not found:
        known = ", ".join(one.consumer for one in readers) or "nobody"
        raise NotFound(f"{consumer!r} does not read the old line; those who do: {known}")
    return found


def everybody(contract: Contract) -> Subscription:
    """Return a reader of everything, for a guide where nobody is known."""
    line = line_of(contract) or Line(contract.id, 0)
    return Subscription("everybody", line, ConsumerClass.EXPLORATORY_ANALYTICS)


def _contract(reference: str, where: Where) -> Contract:
    if is_document(reference):
        return load_source(reference, where.settings.limits).contract
    return find_contract(reference, where.registry, where.token_file, where.settings)


def _all(ask: Callable[[str | None], Page[T]]) -> list[T]:
    page = ask(None)
    found = list(page.items)
    while page.next is not None:
        page = ask(page.next)
        found += page.items
    return found


def _subscription(answer: SubscriptionAnswer) -> Subscription:
    return Subscription(
        answer.consumer,
        parse_line(answer.line),
        ConsumerClass(answer.consumer_class),
        parse_fields(answer.fields),
        answer.purpose,
        answer.latency,
        answer.contact,
    )


def planned(old: Contract, new: Contract, where: Where, file: Path | None, consumer: str | None) -> Plan:
    """Work out the way over, its views, and the guides of those who read the old line."""
    from treaty.cli.render.migration_plan import Plan, views_of

    path = path_between(old, new)
    readers = readers_of(old, new, where, file)
    known = readers.subscriptions if readers else ()
    nobody = None
    if readers is None:
        nobody = "No registry says who reads the old line; here is a guide with all its fields."
    elif not known and consumer is None:
        nobody = f"Nobody is known to read {line_of(old) or old.id}; here is a guide with all its fields."
    chosen = only(known, consumer) if known or consumer else (everybody(old),)
    return Plan(path, build_guides(path, chosen, readers.by if readers else None), nobody, views_of(path))


def record_proof(proof: Proof, where: Where) -> str:
    """Keep a proof with the migration between the lines it is about, and say with which."""
    lines = line_of(proof.before), line_of(proof.after)
    contract = proof.before.id
    with opened(where.registry, where.token_file, where.settings) as it:
        known = _all(lambda at: it.migrations.list(contract=contract, cursor=at, limit=_PAGE))
        found = [one for one in known if (one.before, one.after) == tuple(map(str, lines))]
        if not found:
            raise NotFound(
                f"no migration from {lines[0]} to {lines[1]} is registered; it begins when a version that opens the "
                "new line is registered while somebody reads the old one"
            )
        it.migrations.record_proof(found[-1].id, proof.as_data())
    return f"kept with migration {found[-1].id}"
