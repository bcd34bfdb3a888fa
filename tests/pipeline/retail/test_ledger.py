"""Exactly the defects that were injected into the retailer's history are found."""

from __future__ import annotations

from collections import Counter

import pytest

from examples.retail.accounting import differences, expected, ledger, quarantined_lines
from examples.retail.history import Outcome
from examples.retail.history.invalid_rows import DAMAGES
from examples.retail.history.unreadable_lines import POISONS
from tests.pipeline.retail.observed_outcomes import by_product
from tests.pipeline.retail.retailer import RETAIL, Retailer

_LINE_OUTCOMES = {Outcome.QUARANTINED: "quarantined", Outcome.DEDUPLICATED: "duplicate"}
"""The outcome of a line by the outcome of its defect; lines with other defects are accepted."""


def test_both_runs_succeed_and_the_second_is_incremental(retailer: Retailer) -> None:
    first, second = retailer.summaries

    assert first.succeeded, [step.reasons for step in first.unsuccessful]
    assert second.succeeded, [step.reasons for step in second.unsuccessful]
    # a return has lines and its event none, so that product is computed in full; a feed is always written in full
    assert {step.name for step in second.steps if step.mode == "full"} == {"returns", "marketplace_partner_feed"}


@pytest.mark.parametrize("wave", [1, 2])
def test_exactly_the_injected_defects_are_found(retailer: Retailer, wave: int) -> None:
    wanted, actual = by_product(expected(retailer.landing, wave)), retailer.observed[wave - 1].account

    assert differences(wanted, actual) == []
    assert actual.exception_claims == wanted.exception_claims


@pytest.mark.parametrize("wave", [1, 2])
def test_every_line_has_the_outcome_of_its_ledger(retailer: Retailer, wave: int) -> None:
    entries = [entry for entry in ledger(retailer.landing, wave) if entry.arrived]
    marked = {(entry.file, entry.line): _LINE_OUTCOMES.get(entry.outcome, "accepted") for entry in entries}
    lines = retailer.observed[wave - 1].lines

    assert {place: line.outcome for place, line in lines.items()} == dict.fromkeys(lines, "accepted") | marked
    bad = {place: line.rules for place, line in lines.items() if line.rules}
    assert bad == {place: (rule,) for place, rule in quarantined_lines(retailer.landing, wave).items()}
    again = Counter(line.event_id for line in lines.values() if line.outcome == "duplicate")
    assert again == Counter(entry.event_id for entry in entries if entry.outcome is Outcome.DEDUPLICATED)


def test_history_has_every_kind_of_defect(retailer: Retailer) -> None:
    entries = list(ledger(retailer.landing, waves=2))

    assert {entry.outcome for entry in entries} == set(Outcome)
    assert {entry.exception for entry in entries} == {None, "missing", "conflict", "late", "duplicate", "identity"}
    damaged = [entry for entry in entries if entry.defect == "invalid_row" and entry.wave == 1]
    assert len({(entry.source, entry.rule, entry.detail) for entry in damaged}) == len(DAMAGES)
    assert {entry.detail for entry in entries if entry.defect == "poison"} == set(POISONS)


def test_documented_numbers_match_the_runs(retailer: Retailer) -> None:
    page = (RETAIL / "README.md").read_text(encoding="utf-8")

    for line in _page_lines(retailer):
        assert line in page


def _page_lines(retailer: Retailer) -> list[str]:
    found = [(observed.account, observed.rows) for observed in retailer.observed]

    def rows(label: str, *tables: str) -> str:
        return _line(label, *(", ".join(f"{rows[table].total():,}" for table in tables) for _, rows in found))

    settled = [rows["reconciliation.commercial_order"] for _, rows in found]
    classes = [Counter(reason for _, reason in account.exceptions) for account, _ in found]
    return [
        _line("lines that arrived", *(f"{sum(account.lines.values()):,}" for account, _ in found)),
        _line(
            "quarantined, each under the rule in the ledger",
            *(str(sum(account.quarantined.values())) for account, _ in found),
        ),
        _line("redelivered", *(str(sum(account.duplicates.values())) for account, _ in found)),
        rows(
            "`order_capture`, `payment_settlement`, `shipment_execution`, `returns`",
            "products.order_capture",
            "products.payment_settlement",
            "products.shipment_execution",
            "products.returns",
        ),
        _line("orders resolved, held", *(f"{counts['resolved']:,}, {counts['held']}" for counts in settled)),
        _line(
            "held: missing, conflict, duplicate, identity, late",
            *(
                ", ".join(str(counts[name]) for name in ("missing", "conflict", "duplicate", "identity", "late"))
                for counts in classes
            ),
        ),
        rows("entries of `finance_recognized_sale`, equal in both lines", "publications.finance_recognized_sale_v1"),
        rows(
            "`fulfillment_order_ready`, `customer_order_timeline`, partner export",
            "publications.fulfillment_order_ready_v1",
            "publications.customer_order_timeline_v1",
            "publications.marketplace_partner_order_export_v1",
        ),
    ]


def _line(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"
