"""Deliveries of publications to single consumers: what is read from a declaration, and what is reported."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pipeline.projects import SHOP, laid_out
from treaty.errors import InvalidDocument
from treaty.pipeline.project import read_project
from treaty.pipeline.project.declarations import ConsumerDelivery, Feed, Format, Publication, Topic, consumer_namespace

HEAD = "contract: shop.publications.paid_order@2\nfrom: [commercial_order]\ntable: other_v2\n"


def _read(folder: Path, text: str) -> Publication:
    project = read_project(laid_out(folder, {**SHOP, "publications/other.yaml": f"{HEAD}{text}"}))
    return next(one for one in project.publications if one.name == "other")


def test_each_consumer_has_a_delivery_of_its_own(tmp_path: Path) -> None:
    publication = _read(
        tmp_path,
        "for:\n"
        "  delivery-partner: {region: eu, feed: {folder: feeds/partner, format: csv}}\n"
        "  churn-models: {region: eu, topic: {bootstrap: 'a:9092'}}\n"
        "  finance.bi: {table: true, view: orders_now}\n",
    )
    at = f"{tmp_path}/publications/other.yaml"

    assert publication.deliveries == (
        ConsumerDelivery("delivery-partner", "eu", feed=Feed(f"{tmp_path}/feeds/partner", Format.CSV), at=f"{at}:5"),
        ConsumerDelivery(
            "churn-models",
            "eu",
            topic=Topic("shop.publications.paid_order.v2.churn-models", "a:9092"),
            at=f"{at}:6",
        ),
        ConsumerDelivery("finance.bi", table="paid_order_v2", view="orders_now", at=f"{at}:7"),
    )
    assert publication.generated_tables == ("churn_models.other_v2", "finance_bi.paid_order_v2")


def test_a_feed_has_a_folder_for_each_consumer(tmp_path: Path) -> None:
    (delivery,) = _read(tmp_path, "for: {a-b: {feed: {folder: feeds, format: csv}}}\n").deliveries

    assert delivery.own_feed == Feed(f"{tmp_path}/feeds/a_b", Format.CSV)


@pytest.mark.parametrize(
    ("consumer", "namespace"),
    [
        ("churn-models", "churn_models"),
        ("Finance BI", "finance_bi"),
        ("3rd-party", "c_3rd_party"),
        ("../../etc", "c_______etc"),
        ("Ö", "c__"),
    ],
)
def test_a_consumer_has_a_namespace_of_letters_and_digits(consumer: str, namespace: str) -> None:
    assert consumer_namespace(consumer) == namespace


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("for: [a]\n", "for must be a mapping"),
        ("for: {a: {region: eu}}\n", "for.a.feed, topic, table or view is missing"),
        ("for: {a: {regoin: eu, table: true}}\n", "unknown key 'for.a.regoin'"),
        ("for: {a: {table: x-y}}\n", "'x-y' is not a valid table name"),
        ("for: {a: {table: [x]}}\n", "for.a.table must be a text"),
        ("for: {a: {feed: {folder: feeds}}}\n", "for.a.feed.format is missing"),
        ("for: {a b: {topic: {bootstrap: 'a:9092'}}}\n", "'shop.publications.paid_order.v2.a b' is not a valid topic"),
    ],
)
def test_what_cannot_be_read_is_reported(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InvalidDocument) as caught:
        _read(tmp_path, text)

    assert message in str(caught.value)
