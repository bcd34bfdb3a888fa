"""What to look at first in a draft: the guesses that cost most when they are wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from treaty.contracts.locating import locate_fields
from treaty.contracts.model import Contract, Field
from treaty.spark.profile.facts import LITTLE, Profile
from treaty.spark.profile.guesses import guessed_of

_MOST_NAMED = 8


@dataclass(frozen=True)
class Advice:
    """One thing to look at, and why."""

    topic: str
    says: str


def advice(contract: Contract, profile: Profile) -> tuple[Advice, ...]:
    """Return what to look at, the gravest first."""
    return tuple(one for topic in _TOPICS for one in topic(contract, profile))


def _evidence(contract: Contract, profile: Profile) -> Iterator[Advice]:
    if profile.sample:
        yield Advice("sample", f"{profile.sample}; nothing is known of the other rows")
    if not profile.rows:
        yield Advice("evidence", "there are no rows: only names and stored types are drafted")
    elif profile.is_little:
        yield Advice(
            "evidence", f"{profile.rows:,} rows are few: below {LITTLE} hardly anything is concluded from them"
        )
    if profile.malformed:
        yield Advice("malformed", f"{profile.malformed:,} rows could not be read; treaty test sets them apart")


def _key(contract: Contract, profile: Profile) -> Iterator[Advice]:
    key = [field for item in contract.schema for field in item.fields if field.primary_key]
    if not profile.rows:
        return
    if not key:
        yield Advice("key", "none was found: no column, or pair of them, that looks like a key tells all rows apart")
        return
    names = ", ".join(contract.schema[0].primary_key)
    yield Advice("key", f"{names} ({guessed_of(key[0]).get('primaryKey', '')})")


def _personal(contract: Contract, profile: Profile) -> Iterator[Advice]:
    if named := _names(contract, lambda field: field.classification is not None):
        yield Advice("personal data", f"{named}: classified as restricted; is that all, and is it right?")


def _choices(contract: Contract, profile: Profile) -> Iterator[Advice]:
    if named := _names(contract, lambda field: field.enum is not None):
        yield Advice("choices", f"{named}: only the values that were seen are allowed; are there others?")


def _patterns(contract: Contract, profile: Profile) -> Iterator[Advice]:
    shaped = {"pattern", "length", "range"}
    if named := _names(contract, lambda field: bool(shaped & guessed_of(field).keys())):
        yield Advice("limits", f"{named}: a pattern, length or range that all values happen to keep; is it meant?")


def _freshness(contract: Contract, profile: Profile) -> Iterator[Advice]:
    for level in contract.sla or ():
        yield Advice("freshness", f"{level.get('value')} {level.get('unit')} by {level.get('element')}: promise it?")
    if not contract.sla:
        yield Advice("freshness", "nothing is promised: no moment in the data says how often they are refreshed")


def _left(contract: Contract, profile: Profile) -> Iterator[Advice]:
    fields = [field for _, field, _ in locate_fields(contract) if field.name]
    yield Advice("to do", f"the purpose, the owner, and what each of {len(fields):,} fields means")


def _names(contract: Contract, chosen: Callable[[Field], bool]) -> str:
    found = [str(path) for path, field, _ in locate_fields(contract) if chosen(field)]
    more = f" and {len(found) - _MOST_NAMED:,} more" if len(found) > _MOST_NAMED else ""
    return ", ".join(found[:_MOST_NAMED]) + more


_TOPICS = (_evidence, _key, _personal, _choices, _patterns, _freshness, _left)
