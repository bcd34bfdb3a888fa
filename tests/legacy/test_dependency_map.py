"""The dependency map: evidence merged for each consumer and source, critical consumers that read directly first."""

from __future__ import annotations

from datetime import date

from treaty.consumers.dependencies import DataLayer
from treaty.consumers.subscriptions import ConsumerClass
from treaty.contracts.versions import Line
from treaty.legacy.consumer_guess import ClassGuess
from treaty.legacy.dependency_map import (
    ConsumerProfile,
    DeclaredRead,
    FoundRead,
    MapInputs,
    ObservedRead,
    build_map,
    kind_of_table,
)

ORDERS = Line("orders", 1)
GUESS = ClassGuess(ConsumerClass.OPERATIONAL_REPORTING, 0.6, "its name contains 'report'")


def test_what_is_declared_scanned_and_observed_becomes_one_entry() -> None:
    (entry,) = build_map(
        MapInputs(
            declared=(
                DeclaredRead("board", ORDERS, ConsumerClass.DECISION_AUTOMATION, frozenset({"id"}), "1h", "reorder"),
            ),
            observed=(ObservedRead("board", ORDERS, frozenset({"net"}), date(2026, 3, 2), "sales"),),
            found=(FoundRead("board", "lake.orders_v1", frozenset({"day"}), GUESS, ORDERS, "1d", places=("a.py:3",)),),
            layers={ORDERS: DataLayer.PUBLICATION},
        )
    )

    assert (entry.source, entry.source_kind, entry.is_direct) == ("orders@1", "publication", False)
    assert entry.columns == ("day", "id", "net")
    assert (entry.consumer_class, entry.class_confidence) == (ConsumerClass.DECISION_AUTOMATION, None)
    assert (entry.latency, entry.latency_is_stated, entry.decision, entry.team) == ("1h", True, "reorder", "sales")
    assert (entry.evidence, entry.last_read) == (("declared", "scanned", "observed"), date(2026, 3, 2))


def test_what_a_scan_found_has_a_confidence_and_what_people_say_has_none() -> None:
    found = (FoundRead("close", "a.b", frozenset(), GUESS, None, "1d", "closing the books", kind="airflow"),)
    said = ConsumerProfile("close", latency="8h", decision="monthly close")

    (guessed,) = build_map(MapInputs(found=found))
    (known,) = build_map(MapInputs(found=found, profiles={"close": said}))

    assert (guessed.latency, guessed.latency_confidence) == ("1d", 0.9)
    assert (guessed.decision, guessed.decision_confidence) == ("closing the books", 0.6)
    assert (known.latency, known.latency_confidence) == ("8h", None)
    assert (known.decision, known.decision_confidence) == ("monthly close", None)


def test_columns_are_open_if_one_kind_of_evidence_names_none() -> None:
    (entry,) = build_map(
        MapInputs(
            declared=(DeclaredRead("board", ORDERS, ConsumerClass.OPERATIONAL_REPORTING, frozenset()),),
            found=(FoundRead("board", "orders", frozenset({"day"}), GUESS, ORDERS),),
        )
    )

    assert entry.columns == ()


def test_people_are_believed_before_guesses_and_the_surest_guess_counts() -> None:
    sure = ClassGuess(ConsumerClass.EXTERNAL_REGULATORY, 0.8, "its name contains 'tax'")
    found = (FoundRead("tax_report", "a.b", frozenset(), GUESS), FoundRead("tax_report", "a.c", frozenset(), sure))
    said = ConsumerProfile("tax_report", ConsumerClass.EXPLORATORY_ANALYTICS, "7d", "none", "tax")

    guessed = build_map(MapInputs(found=found))
    corrected = build_map(MapInputs(found=found, profiles={"tax_report": said}))

    assert {(one.consumer_class, one.class_confidence) for one in guessed} == {(ConsumerClass.EXTERNAL_REGULATORY, 0.8)}
    assert {(one.consumer_class, one.class_reason, one.latency, one.team) for one in corrected} == {
        (ConsumerClass.EXPLORATORY_ANALYTICS, "set by people", "7d", "tax")
    }


def test_critical_consumers_that_read_directly_come_first() -> None:
    critical = ClassGuess(ConsumerClass.EXTERNAL_REGULATORY, 0.8, "")
    found = (
        FoundRead("a_report", "raw.orders", frozenset(), GUESS),
        FoundRead("b_report", "mart.net", frozenset(), GUESS),
        FoundRead("y_tax", "mart.net", frozenset(), critical),
        FoundRead("z_tax", "warehouse.legacy_revenue", frozenset(), critical),
    )

    entries = build_map(MapInputs(found=found))

    assert [(one.consumer, one.source_kind, one.is_direct) for one in entries] == [
        ("z_tax", "legacy", True),
        ("y_tax", "table", False),
        ("a_report", "raw", True),
        ("b_report", "table", False),
    ]


def test_names_of_tables_tell_their_kind() -> None:
    kinds = {
        name: kind_of_table(name)
        for name in ("lake.raw.orders", "stg_orders", "cdc.orders", "products.orders", "shop.raw_x")
    }

    assert kinds == {
        "lake.raw.orders": "raw",
        "stg_orders": "raw",
        "cdc.orders": "change_feed",
        "products.orders": "product",
        "shop.raw_x": "raw",
    }
    assert kind_of_table("shop.orders") == "table"
