"""The retail history: valid except for the defects in its ledger."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest

from examples.retail.history import Options, write
from tests.examples.event_audit import exceptions
from tests.examples.history_reader import Wave, distinct, read_wave

OPTIONS = Options(orders=2_000, seed=11, days=20)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("history") / "out"
    write(OPTIONS, out)
    write(replace(OPTIONS, wave=2), out)
    return out


@pytest.fixture(scope="module")
def first(folder: Path) -> Wave:
    return read_wave(folder, 1)


@pytest.fixture(scope="module")
def second(folder: Path) -> Wave:
    return read_wave(folder, 2)


@pytest.fixture(scope="module", params=[1, 2], ids=["first wave", "second wave"])
def wave(request: pytest.FixtureRequest, first: Wave, second: Wave) -> Wave:
    return first if request.param == 1 else second


def test_a_line_violates_only_the_rules_named_in_the_ledger(wave: Wave) -> None:
    expected = {place: {entry["rule"]} for place, entry in wave.entries("quarantined").items()}
    assert wave.violations == expected


def test_every_kind_of_damage_occurs(first: Wave) -> None:
    kinds = {(entry["event"], entry["detail"]) for entry in first.ledger if entry["outcome"] == "quarantined"}
    assert {detail for _, detail in kinds} >= {
        *("missing_required", "null_required", "missing_nested", "bad_type", "bad_enum", "bad_pattern", "bad_format"),
        *(
            "out_of_range",
            "too_large",
            "too_many_decimals",
            "bad_timestamp",
            "bad_date",
            "bad_map_key",
            "bad_map_value",
        ),
        *("negative_quantity", "empty_array", "bad_utf8", "truncated_json", "empty_line", "json_array", "long_line"),
    }
    assert {event for event, _ in kinds} == set(first.summary["events"])


def test_lines_repeat_only_as_the_ledger_says(first: Wave, second: Wave) -> None:
    seen: dict[str, bytes] = {}
    for wave in (first, second):
        again = set()
        for line in sorted(wave.valid, key=lambda line: line.file):
            event_id = line.payload["event_id"]
            if event_id in seen:
                assert seen[event_id] == line.content
                again.add(line.place)
            seen.setdefault(event_id, line.content)
        assert again == set(wave.entries("deduplicated"))


def test_the_ledger_has_each_line_once(wave: Wave) -> None:
    places = [(entry["file"], entry["line"]) for entry in wave.ledger if entry["file"]]
    assert len(places) == len(set(places))
    assert set(places) <= {line.place for line in wave.lines}
    assert {entry["wave"] for entry in wave.ledger} == {wave.wave}


def test_dropped_events_do_not_arrive(wave: Wave) -> None:
    came = {line.payload["event_id"] for line in wave.valid}
    absent = [entry for entry in wave.ledger if entry["file"] is None]
    assert absent
    assert not came & {entry["event_id"] for entry in absent}


def test_the_summary_counts_the_lines(wave: Wave) -> None:
    assert wave.summary["arrivals"]["lines"] == len(wave.lines)
    lines = Counter(line.event for line in wave.lines)
    bad, again = (
        Counter(place[0].partition("/")[0] for place in wave.entries(name)) for name in ("quarantined", "deduplicated")
    )
    for event, counts in wave.summary["events"].items():
        assert counts["lines"] == lines[event]
        assert counts["quarantined"] == bad[event]
        assert counts["deduplicated"] == again[event]
        assert counts["distinct"] == lines[event] - bad[event] - again[event]
    assert wave.summary["expected"] == Counter(entry["outcome"] for entry in wave.ledger)
    told_of = Counter((entry["defect"], entry["detail"]) for entry in wave.ledger)
    assert wave.summary["defects"] == {
        defect: {detail: count for (name, detail), count in sorted(told_of.items()) if name == defect}
        for defect in {name for name, _ in told_of}
    }


def test_an_audit_of_the_events_finds_the_exceptions_of_the_ledger(first: Wave) -> None:
    assert exceptions(distinct(first.valid)) == first.opened()


def test_the_second_wave_resolves_the_exceptions_in_its_ledger(first: Wave, second: Wave) -> None:
    called_back = {
        entry["order_id"]: ("missing", "payment") for entry in second.ledger if entry["outcome"] == "updated"
    }
    still = {key: why for key, why in first.opened().items() if key not in second.ended()}
    assert second.ended() <= set(first.opened())
    assert exceptions(distinct(first.valid + second.valid)) == {**still, **second.opened(), **called_back}
    announced = {entry["order_id"] for entry in first.ledger if entry["exception"] and entry["resolved_in_wave"] == 2}
    assert announced == second.ended()


@pytest.mark.parametrize("reason", ["missing", "conflict", "late", "duplicate", "identity"])
def test_exceptions_of_every_class_occur(reason: str, first: Wave) -> None:
    assert first.summary["exceptions"]["opened"][reason] >= 2


def test_sequences_have_gaps_only_where_events_were_dropped(first: Wave) -> None:
    seen: dict[tuple[str, str], set[int]] = defaultdict(set)
    for name, event in distinct(first.valid):
        match name:
            case "order_placed" | "order_cancelled":
                seen["order", event["order_id"]].add(event["order_event_sequence"])
            case "payment_settled" | "payment_failed":
                seen["payment", event["payment_id"]].add(event["payment_event_sequence"])
            case "shipment_dispatched":
                seen["shipment", event["order_id"]].add(event["shipment_sequence_in_order"])
    gaps = {key for (_, key), numbers in seen.items() if numbers != set(range(1, len(numbers) + 1))}
    assert gaps == {entry["key"] for entry in first.ledger if entry["outcome"] == "dropped"}


def test_amounts_of_an_order_add_up(wave: Wave) -> None:
    orders = [event for name, event in distinct(wave.valid) if name == "order_placed"]
    assert orders
    for order in orders:
        total = order["order_total"]
        for line in order["order_lines"]:
            off = sum(line.get("discount_by_promotion", {}).values(), Decimal(0))
            assert line["line_gross_amount"] == line["ordered_quantity"] * line["unit_price_gross_amount"] - off
            assert 0 <= line["line_tax_amount"] < line["line_gross_amount"]
        lines = sum(line["line_gross_amount"] for line in order["order_lines"])
        assert total["gross_amount"] == lines + total["shipping_fee_amount"]
        assert [line["order_line_number"] for line in order["order_lines"]] == [
            *range(1, len(order["order_lines"]) + 1)
        ]


def test_shipped_and_returned_quantities_are_within_the_order(first: Wave) -> None:
    pieces: dict[str, Counter[tuple[str, int]]] = {"ordered": Counter(), "gone": Counter(), "back": Counter()}
    fields = {
        "order_placed": ("ordered", "order_lines", "ordered_quantity"),
        "order_cancelled": ("gone", "cancelled_lines", "cancelled_quantity"),
        "shipment_dispatched": ("gone", "shipped_lines", "shipped_quantity"),
        "return_received": ("back", "returned_lines", "returned_quantity"),
    }
    for name, event in distinct(first.valid):
        if name in fields:
            side, lines, quantity = fields[name]
            for line in event[lines]:
                pieces[side][event["order_id"], line["order_line_number"]] += line[quantity]
    known = {order_id for order_id, _ in pieces["ordered"]}
    assert not {key for key in pieces["gone"] - pieces["ordered"] if key[0] in known}
    assert not pieces["back"] - pieces["gone"]


def test_parcels_add_up_to_the_shipment(first: Wave) -> None:
    for name, event in distinct(first.valid):
        if name == "shipment_dispatched" and event["shipment_parcels"]:
            packed: Counter[str] = Counter()
            for parcel in event["shipment_parcels"]:
                packed.update(parcel["packed_quantity_by_article"])
            shipped: Counter[str] = Counter()
            for line in event["shipped_lines"]:
                shipped[line["stock_keeping_unit"]] += line["shipped_quantity"]
            assert packed == shipped


def test_all_channels_and_forty_countries_occur(first: Wave) -> None:
    orders = [event for name, event in distinct(first.valid) if name == "order_placed"]
    assert {order["sales_channel"] for order in orders} == {"ecommerce", "store", "marketplace"}
    assert len({order["selling_country_code"] for order in orders}) == 40
    assert len({order["order_total"]["currency_code"] for order in orders}) >= 20
    for order in orders:
        assert ("store_number" in order) == (order["sales_channel"] == "store")
        assert ("marketplace_seller_id" in order) == (order["sales_channel"] == "marketplace")
        assert ("delivery_address" in order) == (order["fulfillment_method"] == "home_delivery")


def test_the_second_wave_arrives_after_the_first_and_names_its_orders(first: Wave, second: Wave) -> None:
    assert second.summary["arrivals"]["first"] > first.summary["arrivals"]["last"]
    known = {event["order_id"] for name, event in distinct(first.valid)}
    touched = {event["order_id"] for name, event in distinct(second.valid)}
    new = {event["order_id"] for name, event in distinct(second.valid) if name == "order_placed"} - known
    assert len(touched & known) > OPTIONS.orders * 0.02
    assert len(new) > OPTIONS.orders / OPTIONS.days * 0.9
