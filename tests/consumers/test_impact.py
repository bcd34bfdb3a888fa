"""Which consumers a change affects, by field; a consumer without declared fields is never safe."""

from __future__ import annotations

from typing import Any

import pytest

from tests.documents import contract
from treaty.compatibility import diff, judge
from treaty.consumers.impact import compute_impact
from treaty.consumers.subscriptions import ConsumerClass, Subscription, parse_fields
from treaty.contracts.versions import Line, parse_line
from treaty.errors import InvalidDocument

ADDRESS = {
    "name": "address",
    "logicalType": "object",
    "properties": [{"name": "city", "logicalType": "string"}, {"name": "zip", "logicalType": "string"}],
}
BEFORE: dict[str, Any] = {
    "fields": [
        {"name": "order_id", "logicalType": "string", "required": True},
        {"name": "ltv", "logicalType": "number"},
        ADDRESS,
    ],
    "slaProperties": [{"property": "freshness", "value": 1, "unit": "h"}],
}


def _reader(name: str, *fields: str) -> Subscription:
    return Subscription(name, Line("orders", 1), ConsumerClass.OPERATIONAL_REPORTING, parse_fields(fields))


def _impact(after: dict[str, Any], *readers: Subscription) -> dict[str, tuple[str, list[str]]]:
    verdict = judge(diff(contract(BEFORE), contract({**BEFORE, "version": "2.0.0", **after})))
    return {
        one.subscription.consumer: (one.effect.value, [item.change.path for item in one.changes])
        for one in compute_impact(verdict, readers)
    }


def test_removing_a_field_names_exactly_those_who_read_it() -> None:
    gone = {"fields": [BEFORE["fields"][0], ADDRESS]}

    found = _impact(
        gone, _reader("dashboard", "ltv"), _reader("fulfilment", "order_id"), _reader("ml", "ltv", "order_id")
    )

    assert found == {"dashboard": ("hit", ["ltv"]), "ml": ("hit", ["ltv"]), "fulfilment": ("safe", [])}


def test_consumer_without_fields_is_unknown() -> None:
    gone = {"fields": [BEFORE["fields"][0], ADDRESS]}

    assert _impact(gone, _reader("someone")) == {"someone": ("unknown", ["ltv"])}


@pytest.mark.parametrize(("reads", "effect"), [("address.city", "hit"), ("address", "hit"), ("address.zip", "safe")])
def test_a_nested_change_hits_who_reads_it_or_what_is_around_it(reads: str, effect: str) -> None:
    without_city = {**ADDRESS, "properties": [{"name": "zip", "logicalType": "string"}]}

    found = _impact({"fields": [*BEFORE["fields"][:2], without_city]}, _reader("reader", reads))

    assert found["reader"][0] == effect


def test_removing_an_object_hits_who_reads_inside_it() -> None:
    found = _impact({"fields": BEFORE["fields"][:2]}, _reader("reader", "address.zip"))

    assert found["reader"] == ("hit", ["address"])


def test_weaker_promise_of_the_contract_affects_all_consumers() -> None:
    slower = {"slaProperties": [{"property": "freshness", "value": 9, "unit": "h"}]}

    found = _impact(slower, _reader("dashboard", "ltv"), _reader("someone"))

    assert {name: effect for name, (effect, _) in found.items()} == {"dashboard": "hit", "someone": "hit"}


def test_additive_change_affects_no_consumer() -> None:
    more = {"fields": [*BEFORE["fields"], {"name": "city", "logicalType": "string"}]}

    assert _impact(more, _reader("someone"), _reader("dashboard", "ltv")) == {
        "dashboard": ("safe", []),
        "someone": ("safe", []),
    }


def test_a_line_is_read_as_it_is_printed_and_has_its_own_namespace() -> None:
    line = parse_line("retail.orders@2")

    assert str(line) == "retail.orders@2"
    assert line.namespace == "retail_orders_v2"


@pytest.mark.parametrize("text", ["orders", "orders@", "orders@x", "@1", "orders@01"])
def test_what_is_no_line_is_refused(text: str) -> None:
    with pytest.raises(InvalidDocument, match="write it like orders@1"):
        parse_line(text)


def test_critical_consumers_are_those_whose_decisions_rest_on_the_data() -> None:
    critical = {one.value for one in ConsumerClass if one.is_critical}

    assert critical == {"decision_automation", "external_regulatory", "service_orchestration"}
