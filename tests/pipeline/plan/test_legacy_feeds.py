"""A legacy feed whose mapping does not fit the contract of its publication is a problem of the plan."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.pipeline.plan.shop import SHOP, _field, contracts, key
from treaty.contracts.findings import Finding
from treaty.legacy.feeds import ColumnRule, Comparison, LegacyFeed, LegacyTable, Tolerance
from treaty.pipeline.plan import plan
from treaty.pipeline.plan.legacy_feeds import find_shape_problem

SALES = [
    key("order_id"),
    _field("day", "date"),
    _field("status", enum=[{"value": "sold"}, {"value": "refunded"}]),
    _field("paid", "money"),
    _field("city"),
]
COLUMNS = (
    ColumnRule("no", "order_id"),
    ColumnRule("booked_on", "day", Tolerance(seconds=86_400)),
    ColumnRule("state", "status", codes={"S": "sold"}),
    ColumnRule("net", "paid", Tolerance(absolute=0.01)),
)
COMPARISON = Comparison("sales", COLUMNS, money=("net",))
FEED = LegacyFeed(
    "mart",
    LegacyTable("old.mart"),
    ("no",),
    "booked_on",
    "Finance Systems",
    comparison=COMPARISON,
    at="legacy/mart.yaml:1",
)


def problems(comparison: Comparison = COMPARISON, feed: LegacyFeed = FEED, fields: Any = SALES) -> list[Finding]:
    project = replace(SHOP, legacy=(replace(feed, comparison=comparison),))
    found = plan(project, contracts(sales=fields)).problems
    return [one for one in found if one.id.startswith("legacy-")]


def with_rule(rule: ColumnRule) -> Comparison:
    return replace(COMPARISON, columns=(*(one for one in COLUMNS if one.legacy != rule.legacy), rule))


def test_a_mapping_that_fits_has_no_problems() -> None:
    assert problems() == []


MISTAKES: dict[str, tuple[ColumnRule, str]] = {
    "to a column that is not there": (ColumnRule("net", "payd"), "net is mapped to 'payd', which sales does not have"),
    "with a number for text": (
        ColumnRule("town", "city", Tolerance(absolute=1)),
        "town has a tolerance in numbers, but city is string",
    ),
    "with a time for a number": (
        ColumnRule("net", "paid", Tolerance(seconds=60)),
        "net has a tolerance in time, but paid is decimal(12,2)",
    ),
    "with the meaning of a code misspelt": (
        ColumnRule("state", "status", codes={"S": "solt"}),
        "a code of state means 'solt', which is not a value of status",
    ),
    "with a format of dates for text": (
        ColumnRule("town", "city", format="dd.MM.yyyy"),
        "town has a format of dates, but city is string",
    ),
    "of money to a date": (ColumnRule("net", "day"), "money names net, but day is date"),
    "of the period to a number": (
        ColumnRule("booked_on", "paid"),
        "the period booked_on is mapped to paid, which is decimal(12,2)",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mapping_that_does_not_fit_is_named(mistake: str) -> None:
    rule, message = MISTAKES[mistake]

    (problem,) = problems(with_rule(rule))

    assert problem.message == f"mart: {message}"
    assert str(problem.place) == "legacy/mart.yaml:1"


def test_a_misspelt_column_gets_a_suggestion() -> None:
    (problem,) = problems(with_rule(ColumnRule("net", "payd")))

    assert problem.hint == "did you mean 'paid'?"


def test_a_key_that_the_contract_does_not_promise_to_be_unique_is_a_problem() -> None:
    rules = replace(COMPARISON, columns=(*COLUMNS, ColumnRule("town", "city")))
    by_town = replace(FEED, key=("town",))

    (problem,) = problems(rules, by_town)

    assert problem.message == (
        "mart: the key town is not unique in sales: its contract says that order_id identifies a row"
    )
    assert problems(rules, replace(FEED, key=("town", "no"))) == []
    assert problems(rules, by_town, [*SALES[:4], _field("city", unique=True)]) == []


LEGACY = [
    key("no"),
    _field("booked_on"),
    _field("state", enum=[{"value": "S"}, {"value": "R"}]),
    _field("net", "money"),
]
CODES = ColumnRule("state", "status", codes={"S": "sold", "R": "refunded"})
EMULATED = replace(FEED, comparison=replace(with_rule(CODES), columns=(*COLUMNS[:2], CODES, ColumnRule("net", "paid"))))


def emulation_problems(feed: LegacyFeed = EMULATED, fields: Any = LEGACY) -> list[tuple[str, str, str]]:
    publications = tuple(replace(one, emulates="mart") if one.name == "partner" else one for one in SHOP.publications)
    found = plan(replace(SHOP, legacy=(feed,), publications=publications), contracts(sales=SALES, partner=fields))
    return [(one.id, one.severity.value, one.message) for one in found.problems if one.id.startswith("emulation-")]


def test_an_emulation_names_what_is_lost() -> None:
    assert emulation_problems() == [
        (
            "emulation-lossy",
            "info",
            "partner: booked_on of mart is lossy: values may differ from those of the feed, within the tolerance",
        )
    ]


def test_an_emulation_without_a_source_for_a_column_says_so() -> None:
    message = "partner: job of mart is impossible: the clean rows have no value for it, so it is empty"

    assert emulation_problems(fields=[*LEGACY, _field("job")])[-1] == ("emulation-impossible", "info", message)
    assert ("emulation-impossible", "error", message) in emulation_problems(
        fields=[*LEGACY, _field("job", required=True)]
    )


SHAPES: dict[str, tuple[list[dict[str, Any]], str]] = {
    "without a column": (LEGACY[:3], "partner: its contract has no field 'net', which mart has"),
    "with other codes": (
        [*LEGACY[:2], _field("state", enum=[{"value": "S"}]), LEGACY[3]],
        "partner: state allows S, but its codes are S, R",
    ),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_a_contract_without_the_shape_of_the_feed_is_a_problem(shape: str) -> None:
    fields, message = SHAPES[shape]

    assert ("emulation-shape", "error", message) in emulation_problems(fields=fields)


def test_columns_in_another_order_than_in_the_feed_are_a_problem() -> None:
    publication = replace(SHOP.publications[3], emulates="mart")
    held_to = contracts(partner=LEGACY)[publication.line]

    assert find_shape_problem(publication, held_to, ["no", "booked_on", "state", "net"]) is None
    problem = find_shape_problem(publication, held_to, ["booked_on", "no", "state", "net"])
    assert problem is not None
    assert problem.message == (
        "partner: mart has the columns booked_on, no, state, net, but partner 1.0.0 has no, booked_on, state, net"
    )
