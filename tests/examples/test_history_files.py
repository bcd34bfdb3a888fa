"""The files of the history: order, arrival times, options, and identical bytes on every platform."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from examples.retail.history import Arrival, Mark, Occupied, Options, Outcome, clean, generate, write
from examples.retail.history.arrival_sort import Slots
from tests.examples.line_validation import LineValidator

ROOT = Path(__file__).parents[2]
SMALL = Options(orders=150, seed=3, days=5)
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
ORDERED_BY = {
    "retail.orders.order_placed": ("order_id", "order_event_sequence"),
    "retail.orders.order_cancelled": ("order_id", "order_event_sequence"),
    "retail.payments.payment_settled": ("payment_id", "payment_event_sequence"),
    "retail.payments.payment_failed": ("payment_id", "payment_event_sequence"),
    "retail.shipments.shipment_dispatched": ("order_id", "shipment_sequence_in_order"),
}


def test_events_arrive_in_order_and_in_time_unless_marked() -> None:
    newest: Counter[tuple[str, str]] = Counter()
    validators = {name: LineValidator(name) for name in SMALL.events}
    last = 0
    for arrival in generate(Options(orders=2_000)):
        assert arrival.at >= last
        last = arrival.at
        if arrival.line is None or validators[arrival.event].violations(arrival.line):
            continue
        payload, outcome = json.loads(arrival.line), arrival.mark.outcome if arrival.mark else None
        if outcome is not Outcome.DEDUPLICATED and arrival.event in ORDERED_BY:
            key, sequence = ORDERED_BY[arrival.event]
            stream = (sequence, payload[key])
            assert (newest[stream] > payload[sequence]) == (outcome is Outcome.LATE_NOT_OVERWRITING)
            newest[stream] = max(newest[stream], payload[sequence])
        if outcome in (None, Outcome.EXCEPTION):
            assert timedelta(0) < _delay(arrival, payload) < HOUR
        if outcome is Outcome.LATE:
            assert DAY <= _delay(arrival, payload) <= 7 * DAY


@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize("wave", [1, 2, 3])
def test_workers_and_slices_do_not_change_a_byte(wave: int, workers: int, tmp_path: Path) -> None:
    options = replace(SMALL, wave=wave, batch="week")
    write(options, tmp_path / "out", workers)
    lines: dict[str, list[bytes]] = defaultdict(list)
    sliced = sorted(arrival for start in range(0, 400, 7) for arrival in _slice(options, range(start, start + 7)))
    assert sliced == list(generate(options))
    for arrival in sliced:
        if arrival.line is not None:
            lines[arrival.event].append(arrival.line)
    for event, expected in lines.items():
        files = sorted((tmp_path / "out" / event).iterdir())
        assert b"".join(file.read_bytes() for file in files) == b"".join(line + b"\n" for line in expected)


def test_a_history_has_the_same_bytes_on_every_platform(tmp_path: Path) -> None:
    digests = set()
    for hash_seed in ("0", "1", "4242"):
        out = tmp_path / hash_seed
        ran = _command(out, "--orders", "150", "--seed", "3", "--days", "5", PYTHONHASHSEED=hash_seed)
        assert ran.returncode == 0, ran.stderr
        digests.add(_digest(out))
    assert digests == {"6d669b54f267387298e2edfa3a8f46f137ee343373330de57120948e7a624077"}, (
        "if the history was changed on purpose, pin its new digest here"
    )


def test_counts_grow_with_the_orders() -> None:
    thousand, three = (Counter(map(_defect, _marked(orders))) for orders in (1_000, 3_000))
    del thousand["poison", "long_line"], three["poison", "long_line"]
    assert three == Counter({kind: 3 * count for kind, count in thousand.items()})


def test_a_clean_history_has_no_defects_and_only_valid_lines() -> None:
    validators = {name: LineValidator(name) for name in SMALL.events}
    for arrival in generate(clean(500)):
        assert arrival.mark is None
        assert arrival.line is not None
        assert not validators[arrival.event].violations(arrival.line)


def test_the_share_of_late_events_can_be_set_alone() -> None:
    arrivals = list(generate(Options(orders=1_000, defects=False, late_share=0.2)))
    assert Counter(arrival.mark.outcome for arrival in arrivals if arrival.mark) == {Outcome.LATE: 200}


def test_leaving_out_poison_changes_nothing_else() -> None:
    with_poison, without = (list(generate(Options(orders=1_000, poison=poison))) for poison in (True, False))
    assert {arrival.mark.defect for arrival in with_poison if arrival.mark} >= {"poison", "invalid_row"}
    assert _entries(without) == [mark for mark in _entries(with_poison) if mark.defect != "poison"]


def test_generating_one_event_type_gives_the_same_lines() -> None:
    alone = list(generate(replace(SMALL, only=("payment_settled",))))
    among = [arrival for arrival in generate(SMALL) if arrival.event == "retail.payments.payment_settled"]
    assert alone == among


def test_many_arrivals_are_buffered_on_disk(tmp_path: Path) -> None:
    arrivals = list(generate(SMALL))
    slots = Slots(tmp_path, budget=20_000)
    for arrival in reversed(arrivals):
        slots.add(arrival)
    assert len(list(tmp_path.iterdir())) > 10
    assert [arrival for slot in slots.numbers() for arrival in slots.take(slot)] == arrivals
    assert not list(tmp_path.iterdir())


def test_the_length_of_a_very_long_line() -> None:
    lengths = [len(a.line) for a in generate(Options(orders=1_000, long_line=500_000)) if a.line is not None]
    assert sorted(lengths)[-2:][0] < 10_000
    assert max(lengths) == 500_000


def test_waves_share_a_folder_but_different_histories_do_not(tmp_path: Path) -> None:
    write(SMALL, tmp_path / "out")
    with pytest.raises(Occupied, match="not empty"):
        write(SMALL, tmp_path / "out")
    with pytest.raises(Occupied, match="holds a history with orders 150"):
        write(replace(SMALL, wave=2, orders=151), tmp_path / "out")
    write(replace(SMALL, wave=2), tmp_path / "out")
    with pytest.raises(Occupied, match="holds wave 2 already"):
        write(replace(SMALL, wave=2), tmp_path / "out")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--orders", "0"], "orders is 0; give at least 1"),
        (["--late-share", "2"], "late_share is 2.0; give a share between 0 and 1"),
        (["--late-share", "0.99"], "late_share 0.99 leaves no room for the other defects"),
        (["--workers", "0"], "workers is 0"),
        (["--only", "order_lost"], "invalid choice: 'order_lost'"),
    ],
)
def test_invalid_arguments_give_a_clear_error(arguments: list[str], message: str, tmp_path: Path) -> None:
    ran = _command(tmp_path / "out", *arguments)
    assert ran.returncode == 2
    assert message in ran.stderr
    assert not (tmp_path / "out").exists()


def _command(out: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "examples.retail.history", str(out), *arguments]
    return subprocess.run(
        command, cwd=ROOT, env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )


def _slice(options: Options, numbers: range) -> Iterator[Arrival]:
    return generate(options, numbers)


def _digest(folder: Path) -> str:
    files = sorted(file for file in folder.rglob("*") if file.is_file())
    whole = hashlib.sha256()
    for file in files:
        whole.update(f"{file.relative_to(folder).as_posix()}\n".encode() + file.read_bytes())
    return whole.hexdigest()


def _entries(arrivals: list[Arrival]) -> list[Mark]:
    return [arrival.mark for arrival in arrivals if arrival.mark]


def _marked(orders: int) -> Iterator[Arrival]:
    return (arrival for arrival in generate(Options(orders=orders)) if arrival.mark)


def _defect(arrival: Arrival) -> tuple[str, str]:
    assert arrival.mark is not None
    is_drawn = arrival.mark.defect in ("settled_amount_differs", "identity_claimed_twice")
    return arrival.mark.defect, "" if is_drawn else arrival.mark.detail


def _delay(arrival: Arrival, payload: dict[str, str]) -> timedelta:
    happened = payload[f"{arrival.event.rpartition('.')[2]}_at"]
    return timedelta(milliseconds=arrival.at) - (
        datetime.fromisoformat(happened) - datetime.fromisoformat("1970-01-01T00Z")
    )
