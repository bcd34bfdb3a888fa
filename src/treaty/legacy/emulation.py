"""Serving the shape of a legacy feed from clean rows: the projection, and what becomes of each legacy column."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from treaty.compatibility.migration.casts import CastMethod, cast
from treaty.compatibility.migration.path import Fidelity, least_faithful
from treaty.contracts.model import Field
from treaty.contracts.sql_quoting import quote_identifier, quote_string
from treaty.contracts.values import FrozenMap
from treaty.legacy.feeds import ColumnRule, LegacyFeed

_LAST_SEMICOLON = re.compile(r";(\s*(?:--[^\n]*\s*)*)\Z")
_DAY_LETTERS = ("yu", "ML", "d")
_TIME_LETTERS = (*_DAY_LETTERS, "Hk", "m", "s")


@dataclass(frozen=True, slots=True)
class EmulatedColumn:
    """A legacy column, the column it is computed from, how faithful that is, and what is lost."""

    legacy: str
    source: str | None
    """None if the clean rows have nothing for it: the column is empty."""
    fidelity: Fidelity
    losses: tuple[str, ...] = ()


def projection_sql(feed: LegacyFeed, query: str) -> str:
    """Return a query that gives the rows of another one the names, codes and date formats of a legacy feed.

    The lines of the query keep their numbers, so that messages about it name the right ones.
    """
    rules = feed.comparison.columns if feed.comparison else ()
    columns = ", ".join(f"{_value_sql(rule)} AS {quote_identifier(rule.legacy)}" for rule in rules)
    inner = _LAST_SEMICOLON.sub(r"\1", query).rstrip()
    return f"SELECT {columns} FROM ({inner}\n) AS clean_rows"  # noqa: S608  quoted names


def _value_sql(rule: ColumnRule) -> str:
    column = f"clean_rows.{quote_identifier(rule.new)}"
    if rule.codes:
        text = f"CAST({column} AS STRING)"
        branches = " ".join(
            f"WHEN {quote_string(meaning)} THEN {quote_string(codes[0])}"
            for meaning, codes in codes_by_meaning(rule).items()
        )
        return f"CASE {text} {branches} ELSE {text} END"
    return f"date_format({column}, {quote_string(rule.format)})" if rule.format else column


def codes_by_meaning(rule: ColumnRule) -> dict[str, list[str]]:
    """Return the legacy codes of each meaning; the first one is written."""
    codes: dict[str, list[str]] = {}
    for code, meaning in (rule.codes or {}).items():
        codes.setdefault(meaning, []).append(code)
    return codes


def emulated_columns(
    feed: LegacyFeed, legacy: Mapping[str, Field], clean: Mapping[str, Field]
) -> tuple[EmulatedColumn, ...]:
    """Return what becomes of each column of the contract in the legacy shape, from the fields of the clean contract."""
    rules = {rule.legacy: rule for rule in feed.comparison.columns} if feed.comparison else {}
    columns = []
    for name, field in legacy.items():
        rule = rules.get(name)
        source = clean.get(rule.new) if rule else None
        if rule is None or source is None:
            columns.append(
                EmulatedColumn(
                    name, None, Fidelity.IMPOSSIBLE, ("the clean rows have no value for it, so it is empty",)
                )
            )
            continue
        found = list(_losses(rule, source, field))
        fidelity = least_faithful(*(fidelity for fidelity, _ in found))
        columns.append(EmulatedColumn(name, rule.new, fidelity, tuple(loss for _, loss in found)))
    return tuple(columns)


def _losses(rule: ColumnRule, source: Field, target: Field) -> Iterator[tuple[Fidelity, str]]:
    tolerance = rule.tolerance
    if rule.codes:
        yield from _code_losses(rule, source)
    elif rule.format:
        yield from _format_losses(rule.format, source)
    else:
        conversion = cast(source, target)
        if conversion.means is CastMethod.NOTHING:
            yield Fidelity.IMPOSSIBLE, conversion.loss or "no conversion exists"
        elif conversion.loss:
            yield Fidelity.LOSSY, conversion.loss
    if tolerance.absolute or tolerance.relative or tolerance.seconds:
        yield Fidelity.LOSSY, "values may differ from those of the feed, within the tolerance"


def _code_losses(rule: ColumnRule, source: Field) -> Iterator[tuple[Fidelity, str]]:
    codes = codes_by_meaning(rule)
    for meaning, several in codes.items():
        if len(several) > 1:
            listed = ", ".join(several)
            yield Fidelity.LOSSY, f"{listed} all mean {meaning}: {several[0]} is written"
    values = [str(entry.get("value")) for entry in source.enum or ()]
    if not values:
        yield Fidelity.LOSSY, "values without a code are written as they are"
    if without := [value for value in values if value not in codes]:
        noun = "has no code and is" if len(without) == 1 else "have no codes and are"
        yield Fidelity.LOSSY, f"{', '.join(without)} {noun} written unchanged"


def _format_losses(pattern: str, source: Field) -> Iterator[tuple[Fidelity, str]]:
    is_day = source.type is not None and source.type.name == "date"
    missing = [letters[0] for letters in (_DAY_LETTERS if is_day else _TIME_LETTERS) if not set(letters) & set(pattern)]
    if missing:
        yield Fidelity.LOSSY, f"{pattern} does not show all of the value: {', '.join(missing)} is not written"
    elif not is_day and "S" not in pattern:
        yield Fidelity.LOSSY, f"{pattern} does not show fractions of a second"


def emulated_feed(feed: LegacyFeed, publication: str) -> LegacyFeed:
    """Return how a feed compares with the publication that emulates it: column by column, code by code.

    It has the name of the publication, under which its runs are recorded.
    """
    if feed.comparison is None:
        return feed
    rules = tuple(
        replace(
            rule,
            new=rule.legacy,
            codes=FrozenMap({code: code for code in rule.codes}) if rule.codes else None,
            new_format=rule.format,
        )
        for rule in feed.comparison.columns
    )
    return replace(feed, name=publication, comparison=replace(feed.comparison, publication=publication, columns=rules))
