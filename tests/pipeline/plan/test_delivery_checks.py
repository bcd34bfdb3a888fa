"""Problems of deliveries to consumers: names that are taken, and what the registry does not allow."""

from __future__ import annotations

from typing import Any

import pytest

from tests.pipeline.plan.shop import contracts, with_publication
from tests.serving.publisher import Reader
from treaty.contracts import Contract
from treaty.contracts.findings import Finding
from treaty.errors import NotFound
from treaty.pipeline.plan import plan
from treaty.pipeline.project.declarations import ConsumerDelivery, Feed, Form, Format, Topic
from treaty.policy import EffectiveView, effective_view

FEED = Feed("/feeds", Format.CSV)
TOPIC = Topic("orders", "a:9092")
AT = "/shop/partner.yaml:7"


def problems(*deliveries: ConsumerDelivery, policy: dict[str, Any] | None = None, **more: Any) -> list[Finding]:
    by_line = contracts(partner={"data_policy": policy} if policy else {})

    def find_view(contract: Contract, consumer: str, region: str | None) -> EffectiveView:
        if consumer == "nobody":
            raise NotFound("nobody has no subscription to partner@1")
        return effective_view(contract, Reader.of(consumer, "reporting"), region=region)

    project = with_publication("partner", deliveries=deliveries, **more)
    found = plan(project, by_line, find_view=find_view).problems
    return [one for one in found if one.id.startswith("delivery")]


RESIDENCY = {"residency": {"column": "city", "serve": {"Bonn": ["eu"]}}}
HASHED = {"fields": {"city": {"mask": "hash", "key": "people"}}}
PROBLEMS = {
    "no subscription": (ConsumerDelivery("nobody", feed=FEED, at=AT), None, "delivery-refused", "no subscription"),
    "a purpose": (
        ConsumerDelivery("bi", feed=FEED, at=AT),
        {"purposes": ["support"]},
        "delivery-refused",
        "the purpose 'reporting' is not allowed",
    ),
    "a region": (
        ConsumerDelivery("bi", "us", feed=FEED, at=AT),
        RESIDENCY,
        "delivery-region",
        "data_policy.residency of partner 1.0.0 allows no rows in the region us",
    ),
    "a region of a topic": (
        ConsumerDelivery("bi", "us", topic=TOPIC, at=AT),
        RESIDENCY,
        "delivery-region",
        "data_policy.residency of partner 1.0.0 allows no rows in the region us",
    ),
    "a key that is masked": (
        ConsumerDelivery("bi", topic=TOPIC, at=AT),
        {"fields": {"order_id": "redact"}},
        "delivery-key",
        "its records would have no key: the key field order_id is masked (redact)",
    ),
    "a view with a key": (
        ConsumerDelivery("bi", view="orders", at=AT),
        HASHED,
        "delivery-key",
        "a mask needs a key, which the text of a view would show",
    ),
    "a namespace": (
        ConsumerDelivery("raw", table="orders", at=AT),
        None,
        "delivery-name",
        "the namespace raw has the tables of the project",
    ),
    "a table and a view": (
        ConsumerDelivery("bi", table="orders", view="orders", at=AT),
        None,
        "delivery-name",
        "bi.orders cannot be both a table and a view",
    ),
}


@pytest.mark.parametrize("case", PROBLEMS)
def test_a_delivery_that_is_not_allowed_prevents_a_run(case: str) -> None:
    delivery, policy, finding, message = PROBLEMS[case]

    (found,) = problems(delivery, policy=policy)

    assert (found.id, found.severity.value, str(found.place)) == (finding, "error", AT)
    assert message in found.message
    assert found.hint


def test_a_delivery_without_a_region_is_warned_of_under_a_residency_rule() -> None:
    (found,) = problems(ConsumerDelivery("bi", feed=FEED, at=AT), policy=RESIDENCY)

    assert (found.severity.value, found.message) == (
        "warning",
        "partner for bi: it declares no region, so data_policy.residency of partner 1.0.0 lets no row through",
    )


def test_a_table_topic_or_folder_is_written_for_one_consumer_only() -> None:
    found = problems(
        ConsumerDelivery("b-i", table="orders", topic=TOPIC, feed=FEED, at=AT),
        ConsumerDelivery("b.i", table="orders", topic=TOPIC, feed=FEED, at=AT),
        form=Form.TOPIC,
        topic=TOPIC,
    )

    assert [one.message for one in found] == [
        "partner for b-i: the topic orders is already used by partner",
        "partner for b.i: the folder /feeds/b_i/partner_v1 is already used by partner for b-i",
        "partner for b.i: the table b_i.orders is already used by partner for b-i",
        "partner for b.i: the topic orders is already used by partner",
    ]


def test_a_view_has_nothing_to_deliver() -> None:
    (found,) = problems(ConsumerDelivery("bi", table="orders", at=AT), form=Form.VIEW)

    assert (found.id, found.message) == (
        "delivery-view",
        "partner for bi: a view has no rows of its own to deliver",
    )


def test_what_is_allowed_is_no_problem() -> None:
    allowed = ConsumerDelivery("bi", "eu", FEED, TOPIC, "orders", "orders_now", at=AT)

    assert problems(allowed, policy=RESIDENCY) == []
