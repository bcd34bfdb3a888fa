"""What was measured is kept, held to what contracts promise, and says how each contract is."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

from tests.registry.backends import START, AnyRegistry, Backend
from tests.registry.offers import ID, ORDERS, PLAN, PLAN_FIELD, USERS, orders, users
from treaty.errors import InvalidDocument, NotAllowed
from treaty.observability import Measure, State
from treaty.registry.model.contract_answers import Query

HOUR = 3_600.0
DAILY = [{"property": "freshness", "value": 24, "unit": "h"}]


def freshness(hours: float, at: datetime = START, contract: str = ORDERS, **more: Any) -> Measure:
    return Measure(contract, "freshness", at, hours * HOUR, **more)


@pytest.fixture
def promised(registry: AnyRegistry) -> AnyRegistry:
    registry.register(orders(slaProperties=DAILY))
    return registry


def test_a_measure_is_compared_with_the_promise_of_the_contract(promised: AnyRegistry) -> None:
    promised.measures.record([freshness(31, details={"run": 7})])

    (kept,) = promised.measures.current(contract=ORDERS).items
    assert (kept.value, kept.unit, kept.promise, kept.state) == (31 * HOUR, "s", 24 * HOUR, "failing")
    assert (kept.at, kept.details) == (START, {"run": 7})


def test_the_status_reported_with_a_measure_is_kept(promised: AnyRegistry) -> None:
    own = Measure(ORDERS, "unsettled", START, 3.5, unit="%", promise=5.0, state=State.WARNING)
    promised.measures.record([own])

    (kept,) = promised.measures.current(name="unsettled").items
    assert (kept.unit, kept.promise, kept.state) == ("%", 5.0, "warning")


def test_the_newest_is_current_whatever_the_order_of_arrival(promised: AnyRegistry) -> None:
    promised.measures.record([freshness(2, START), freshness(3, START - timedelta(hours=5))])
    promised.measures.record([freshness(4, START - timedelta(hours=2))])

    assert [one.value for one in promised.measures.current().items] == [2 * HOUR]
    found = promised.measures.history(ORDERS, "freshness").items
    assert [one.value / HOUR for one in found] == [2, 4, 3]


def test_a_repeated_batch_is_stored_once(promised: AnyRegistry) -> None:
    batch = [freshness(2), freshness(3, START - timedelta(hours=1))]

    assert promised.measures.record(batch).recorded == 2
    assert promised.measures.record([*batch, freshness(9, START - timedelta(days=1))]).recorded == 1
    assert len(promised.measures.history(ORDERS, "freshness").items) == 3


def test_contracts_that_are_not_registered_are_passed_over_and_named(promised: AnyRegistry) -> None:
    answer = promised.measures.record([freshness(2), freshness(2, contract="nobody.knows")])

    assert (answer.recorded, answer.unknown) == (1, ["nobody.knows"])


def test_history_is_paginated(promised: AnyRegistry) -> None:
    promised.measures.record([freshness(hour, START - timedelta(hours=hour)) for hour in range(7)])

    first = promised.measures.history(ORDERS, "freshness", limit=4)
    rest = promised.measures.history(ORDERS, "freshness", limit=4, cursor=first.next)
    assert [one.value / HOUR for one in (*first.items, *rest.items)] == [0, 1, 2, 3, 4, 5, 6]
    assert rest.next is None
    assert promised.measures.history(ORDERS, "freshness", since=(START + timedelta(days=1)).date()).items == []


def test_a_day_has_the_status_of_its_worst_measure_and_the_worst_contract_is_first(promised: AnyRegistry) -> None:
    promised.register(users())
    day = timedelta(days=1)
    promised.measures.record(
        [
            freshness(31, START - 2 * day),
            freshness(1, START - 2 * day + timedelta(hours=3)),
            Measure(ORDERS, "run", START - 2 * day, 1.0),
            freshness(1, START),
            Measure(ORDERS, "volume", START - day, 10.0),
            Measure(USERS, "run", START, 0.0),
        ]
    )

    worst, fine = promised.measures.grid().items
    assert (worst.contract, worst.health) == (USERS, "failing")
    assert (fine.contract, fine.health) == (ORDERS, "healthy")
    assert [(one.day, one.state, one.by) for one in fine.days] == [
        ((START - 2 * day).date(), "failing", ["freshness"]),
        (START.date(), "healthy", ["freshness"]),
    ]


def test_the_grid_is_paginated_and_filtered_by_domain(registry: AnyRegistry) -> None:
    names = [f"c{number}" for number in range(5)]
    for number, name in enumerate(names):
        registry.register(orders(id=name, domain="even" if number % 2 == 0 else "odd"))
    registry.measures.record([Measure(name, "run", START, float(name != "c3")) for name in names])

    first = registry.measures.grid(limit=2)
    second = registry.measures.grid(limit=2, cursor=first.next)
    assert [one.contract for one in (*first.items, *second.items)] == ["c3", "c0", "c1", "c2"]
    assert [one.contract for one in registry.measures.grid(domain="odd").items] == ["c3", "c1"]


def test_contracts_are_found_and_counted_by_their_health(promised: AnyRegistry) -> None:
    promised.register(users())
    promised.measures.record([freshness(31), Measure(ORDERS, "run", START, 1.0)])

    assert [one.health for one in promised.search(Query()).items] == ["failing", None]
    assert [one.id for one in promised.search(Query(health="failing")).items] == [ORDERS]
    assert [one.id for one in promised.search(Query(health="none")).items] == [USERS]
    assert promised.overview().health == {"failing": 1, "none": 1}
    with pytest.raises(InvalidDocument):
        promised.search(Query(health="ill"))


def test_a_contract_is_well_again_with_its_next_measure(promised: AnyRegistry, backend: Backend) -> None:
    promised.measures.record([freshness(31)])
    backend.clock.pass_days(1)
    promised.measures.record([freshness(1, backend.clock.now)])

    assert promised.overview().health == {"healthy": 1}


def test_old_measures_do_not_count_for_the_current_status(promised: AnyRegistry, backend: Backend) -> None:
    promised.register(users())
    promised.measures.record([freshness(1), Measure(USERS, "run", START, 0.0)])
    backend.clock.pass_days(1)
    promised.measures.record([Measure(USERS, "run", backend.clock.now, 1.0)])
    assert promised.overview().health == {"healthy": 2}

    backend.clock.pass_days(1)

    assert promised.overview().health == {"healthy": 1, "none": 1}
    assert {one.id: one.health for one in promised.search(Query()).items} == {ORDERS: None, USERS: "healthy"}
    assert [one.id for one in promised.search(Query(health="healthy")).items] == [USERS]
    assert [one.id for one in promised.search(Query(health="none")).items] == [ORDERS]
    first = promised.measures.grid(limit=1)
    second = promised.measures.grid(limit=1, cursor=first.next)
    assert [(one.contract, one.health) for one in (*first.items, *second.items)] == [(USERS, "healthy"), (ORDERS, None)]
    assert [one.state for one in second.items[0].days] == ["healthy"]


def test_a_breach_counts_until_its_promise_is_kept_again(promised: AnyRegistry, backend: Backend) -> None:
    promised.measures.record([Measure(ORDERS, "run", START, 0.0)])
    backend.clock.pass_days(3)
    promised.measures.record([freshness(1, backend.clock.now)])
    assert promised.overview().health == {"failing": 1}

    promised.measures.record([Measure(ORDERS, "run", backend.clock.now, 1.0)])
    assert promised.overview().health == {"healthy": 1}


def test_a_known_measure_is_taken_in_its_own_unit_only(promised: AnyRegistry) -> None:
    with pytest.raises(
        InvalidDocument, match=f"freshness of {ORDERS} is counted in 's', and is given in 'min'; convert"
    ):
        promised.measures.record([Measure(ORDERS, "freshness", START, 2_000.0, unit="min")])
    with pytest.raises(InvalidDocument, match="has no unit, and is given in '%'"):
        promised.measures.record([Measure(ORDERS, "run", START, 1.0, unit="%")])

    promised.measures.record([freshness(2_000 / 60, unit="s")])
    assert [(one.unit, one.state) for one in promised.measures.current().items] == [("s", "failing")]


def test_only_those_who_own_a_contract_measure_it(promised: AnyRegistry, backend: Backend) -> None:
    assert backend.acting_as("ana", "contributor", "checkout").measures.record([freshness(2)]).recorded == 1
    with pytest.raises(NotAllowed):
        backend.acting_as("eve", "contributor", "sales").measures.record([freshness(99)])


@pytest.mark.parametrize(
    "wrong",
    [
        freshness(float("nan")),
        freshness(1, START + timedelta(days=2)),
        freshness(1, START - timedelta(days=500)),
        Measure(ORDERS, " ", START, 1.0),
        freshness(1, details={"words": "x" * 5_000}),
        freshness(1, unit="u" * 41),
        Measure(ORDERS, "volume", START, 1.75e308),
        Measure(ORDERS, "volume", START, 1.0, promise=-1e16),
    ],
    ids=[
        "no number",
        "of tomorrow",
        "too old",
        "no name",
        "large details",
        "a long unit",
        "too large",
        "a promise too large",
    ],
)
def test_measures_that_cannot_be_stored_are_refused(promised: AnyRegistry, wrong: Measure) -> None:
    with pytest.raises((InvalidDocument, ValueError)):
        promised.measures.record([freshness(1), wrong])

    assert promised.measures.current().items == []


def test_a_batch_has_a_bound(promised: AnyRegistry) -> None:
    many = [freshness(1, START - timedelta(seconds=second)) for second in range(1_001)]

    with pytest.raises(InvalidDocument):
        promised.measures.record(many)
    assert promised.measures.record(many[:1_000]).recorded == 1_000


def test_measures_are_let_go_after_their_time(promised: AnyRegistry, backend: Backend) -> None:
    promised.measures.record([freshness(1)])
    backend.clock.pass_days(401)
    promised.measures.record([freshness(2, backend.clock.now)])

    assert backend.rows("SELECT count(*) FROM measures")[0][0] == 1


def test_two_lines_of_a_contract_are_measured_apart(promised: AnyRegistry) -> None:
    hourly = [{"property": "freshness", "value": 1, "unit": "h"}]
    promised.register(orders("2.0.0", [ID, PLAN_FIELD], slaProperties=hourly, migration=PLAN))

    recorded = promised.measures.record(
        [freshness(2, contract="orders@1"), freshness(2, contract="orders@2"), freshness(1, contract="orders@7")]
    )

    assert (recorded.recorded, recorded.unknown) == (2, ["orders@7"])
    current = promised.measures.current(contract=ORDERS).items
    assert [(one.line, one.promise, one.state) for one in current] == [
        ("orders@1", 24 * HOUR, "healthy"),
        ("orders@2", 1 * HOUR, "failing"),
    ]
    assert [one.line for one in promised.measures.current(contract="orders@1").items] == ["orders@1"]
    first = promised.measures.current(limit=1)
    assert [one.line for one in promised.measures.current(cursor=first.next).items] == ["orders@2"]
    earlier = START - timedelta(hours=1)
    promised.measures.record([freshness(5, earlier, contract="orders@1"), freshness(3, earlier)])
    for of, hours in (("orders@1", [2, 5]), ("orders@2", [2, 3]), (ORDERS, [2, 3])):
        found = promised.measures.history(of, "freshness").items
        assert [one.value / HOUR for one in found] == hours
