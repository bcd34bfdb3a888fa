"""The findings expected of a run, from the ledgers, agree with an independent audit of the events."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from pathlib import Path

import pytest

from examples.retail.accounting import Account, differences, expected, quarantined_lines
from examples.retail.history import Options, write
from tests.examples.event_audit import exceptions
from tests.examples.history_reader import Line, Wave, distinct, read_wave

OPTIONS = Options(orders=1_000, seed=5, days=10)
SEQUENCES = {
    "order_placed": ("order", "order_id", "order_event_sequence"),
    "order_cancelled": ("order", "order_id", "order_event_sequence"),
    "payment_settled": ("payment", "payment_id", "payment_event_sequence"),
    "payment_failed": ("payment", "payment_id", "payment_event_sequence"),
    "shipment_dispatched": ("shipment", "order_id", "shipment_sequence_in_order"),
}
"""The sequence of each source, its key, and the field with the number."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("accounted") / "out"
    for wave in (1, 2):
        write(replace(OPTIONS, wave=wave), out)
    return out


@pytest.fixture(scope="module", params=[1, 2], ids=["first wave", "both waves"])
def waves(request: pytest.FixtureRequest) -> int:
    count: int = request.param
    return count


@pytest.fixture(scope="module")
def account(folder: Path, waves: int) -> Account:
    return expected(folder, waves)


@pytest.fixture(scope="module")
def history(folder: Path, waves: int) -> list[Wave]:
    return [read_wave(folder, wave) for wave in range(1, waves + 1)]


def test_every_line_is_accounted_for_once(account: Account, history: list[Wave]) -> None:
    quarantined: Counter[str] = Counter()
    for (source, _), count in account.quarantined.items():
        quarantined[source] += count

    assert account.lines == Counter(_source(line.event) for wave in history for line in wave.lines)
    assert account.lines == Counter(account.accepted) + Counter(account.duplicates) + quarantined


def test_invalid_lines_are_those_that_violate_a_rule(
    account: Account, history: list[Wave], folder: Path, waves: int
) -> None:
    broken = {place: rules for wave in history for place, rules in wave.violations.items()}
    by_rule = Counter((_source(place[0].partition("/")[0]), rule) for place, (rule,) in broken.items())

    assert {place: {rule} for place, rule in quarantined_lines(folder, waves).items()} == broken
    assert account.quarantined == by_rule


def test_duplicates_are_events_that_arrived_before(account: Account, history: list[Wave]) -> None:
    valid = _valid(history)

    again = Counter(_source(line.event) for line in valid) - Counter(name for name, _ in distinct(valid))

    assert account.duplicates == again


def test_exceptions_agree_with_an_audit_of_the_events(account: Account, history: list[Wave]) -> None:
    events = list(distinct(_valid(history)))
    called_back = {event["order_id"] for _, event in events if event.get("payment_id") in account.charged_back}

    found = {
        (order_id, reason, whose)
        for order_id, (reason, whose) in exceptions(events).items()
        if order_id not in called_back
    }

    assert account.exception_claims == found
    assert account.exceptions == {(order_id, reason) for order_id, reason, _ in found}


def test_gaps_are_sequences_with_a_missing_number(account: Account, history: list[Wave]) -> None:
    numbers: dict[tuple[str, str], set[int]] = defaultdict(set)
    for name, event in distinct(_valid(history)):
        if name in SEQUENCES:
            what, key, sequence = SEQUENCES[name]
            numbers[what, event[key]].add(event[sequence])

    gaps = {name for name, seen in numbers.items() if seen != set(range(1, max(seen) + 1))}

    assert {(SEQUENCES[source][0], key) for source, key in account.gaps} == gaps


def test_an_event_is_out_of_order_if_a_newer_one_arrived_first(account: Account, history: list[Wave]) -> None:
    found: Counter[str] = Counter()
    seen: set[str] = set()
    highest: Counter[tuple[str, str]] = Counter()
    for wave in history:
        within: Counter[tuple[str, str]] = Counter()
        for line in sorted(wave.valid, key=lambda line: (line.event, line.place)):
            name, event = _source(line.event), line.payload
            if name in SEQUENCES and event["event_id"] not in seen:
                what, key, sequence = SEQUENCES[name]
                before = max(within[name, event[key]], highest[what, event[key]])
                found[name] += event[sequence] < before
                within[name, event[key]] = max(before, event[sequence])
            seen.add(event["event_id"])
        for (name, key_value), number in within.items():
            stream = SEQUENCES[name][0], key_value
            highest[stream] = max(highest[stream], number)

    assert account.out_of_order == +found


def test_a_complete_run_has_no_differences(account: Account) -> None:
    assert differences(account, replace(account, exception_claims=frozenset())) == []


@pytest.mark.parametrize(
    ("part", "found", "sentences"),
    [
        ("exceptions", {("ORD-1", "missing")}, ["exceptions: ORD-2 late was not found"]),
        (
            "exceptions",
            {("ORD-1", "missing"), ("ORD-2", "late"), ("ORD-3", "identity")},
            ["exceptions: ORD-3 identity was found and should not be"],
        ),
        ("quarantined", {("orders", "enum:channel"): 1}, ["quarantined: orders enum:channel is 1 and should be 2"]),
        ("duplicates", {}, ["duplicates: orders is 0 and should be 3"]),
    ],
)
def test_missed_and_invented_findings_are_reported(part: str, found: object, sentences: list[str]) -> None:
    must = Account(
        lines={},
        accepted={},
        duplicates={"orders": 3},
        quarantined={("orders", "enum:channel"): 2},
        out_of_order={},
        gaps=frozenset(),
        charged_back=frozenset(),
        exceptions=frozenset({("ORD-1", "missing"), ("ORD-2", "late")}),
        exception_claims=frozenset(),
    )
    got = frozenset(found) if isinstance(found, set) else found

    assert differences(must, replace(must, **{part: got})) == sentences  # type: ignore[arg-type]


def _valid(history: list[Wave]) -> tuple[Line, ...]:
    return tuple(line for wave in history for line in wave.valid)


def _source(event: str) -> str:
    return event.rpartition(".")[2]
