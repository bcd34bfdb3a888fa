"""The measures that the contracts of the retailer declare are taken by its runs, and events have a lag."""

from __future__ import annotations

from tests.pipeline.retail.retailer import Retailer
from treaty.pipeline.run.registry_records import measure_run

_DECLARED = {
    "orders_with_unresolved_payment_pct": "retail.reconciliation.commercial_order@1",
    "availability_confidence": "retail.publications.fulfillment_order_ready@1",
    "revenue_recognized_after_sla_pct": "retail.publications.finance_recognized_sale@2",
    "identities_with_conflicting_regulatory_ids": "retail.publications.finance_recognized_sale@2",
}


def test_each_wave_gives_the_declared_measures(retailer: Retailer) -> None:
    waves = [
        {
            measure.name: round(measure.value, 6)
            for measure in measure_run(summary)
            if measure.contract == _DECLARED.get(measure.name)
        }
        for summary in retailer.summaries
    ]

    assert waves == [
        {
            "orders_with_unresolved_payment_pct": 0.0,
            "availability_confidence": 100.0,
            "revenue_recognized_after_sla_pct": 0.07601,
            "identities_with_conflicting_regulatory_ids": 0.0,
        },
        {
            "orders_with_unresolved_payment_pct": 0.0,
            "availability_confidence": 100.0,
            "revenue_recognized_after_sla_pct": 0.07248,
            "identities_with_conflicting_regulatory_ids": 0.0,
        },
    ]


def test_quarantine_is_measured_by_rule(retailer: Retailer) -> None:
    (failed,) = [
        measure
        for measure in measure_run(retailer.summaries[0])
        if (measure.contract, measure.name) == ("retail.payments.payment_failed@1", "quarantined_rows")
    ]

    assert failed.value == 4.0
    assert failed.details["rules"] == {
        "enum:payment_failure_reason": 1,
        "range:attempt_number": 1,
        "required:attempted_money": 1,
        "type:next_attempt_at": 1,
    }


def test_events_of_the_second_wave_have_a_lag(retailer: Retailer) -> None:
    lags = [
        {measure.contract for measure in measure_run(summary) if measure.name == "lag"}
        for summary in retailer.summaries
    ]

    assert lags == [
        set(),
        {
            "retail.orders.order_cancelled@1",
            "retail.orders.order_placed@1",
            "retail.payments.payment_failed@1",
            "retail.payments.payment_settled@1",
            "retail.returns.return_received@1",
            "retail.shipments.shipment_dispatched@1",
        },
    ]
