"""Reading a project; all problems are reported with file, line and hint."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.documents import CASES
from tests.pipeline.projects import SHOP, laid_out
from treaty.contracts.text import Limits
from treaty.contracts.values import FrozenMap
from treaty.contracts.versions import Line
from treaty.errors import InvalidDocument, NotFound
from treaty.pipeline.project import read_project
from treaty.pipeline.project.declarations import (
    Agreement,
    Assertion,
    Claim,
    Delay,
    Feed,
    Files,
    Form,
    Format,
    Jdbc,
    OnConflict,
    Project,
    ReasonClass,
    Redacted,
    Redaction,
    Sql,
)

BROKEN: list[dict[str, Any]] = yaml.safe_load((CASES / "pipeline_projects" / "broken.yaml").read_text())


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return laid_out(tmp_path_factory.mktemp("shop"), SHOP)


@pytest.fixture(scope="module")
def shop(folder: Path) -> Project:
    return read_project(folder)


def test_a_project_is_named_by_its_settings_or_its_folder(folder: Path) -> None:
    assert read_project(folder).name == folder.name
    assert read_project(folder, name="orders of the shop").name == "orders of the shop"


def test_declarations_are_in_layer_and_file_order(shop: Project) -> None:
    assert [one.name for one in shop] == [
        "customer_changed",
        "payments",
        "order_cancelled",
        "order_placed",
        "customers",
        "order_capture",
        "payment_settlement",
        "commercial_order",
        "partner",
        "sales",
        "sales_view",
    ]


def test_source_has_its_origin(shop: Project, folder: Path) -> None:
    origins = {one.name: one.origin for one in shop.sources}

    assert origins == {
        "order_placed": Files(str(folder / "landing/order_placed/*.jsonl"), Format.JSONL),
        "order_cancelled": Files(
            "s3a://landing/cancelled/*.csv.gz", Format.CSV, FrozenMap({"header": "true", "separator": ";"})
        ),
        "customer_changed": Jdbc("jdbc:postgresql://db/shop", "shop.events", "id", "reader"),
        "payments": Files("/landing/payments/*", Format.AVRO),
    }
    assert [one.identity for one in shop.sources if one.identity] == [("event_id",)]
    assert {one.line for one in shop.sources} >= {Line("shop.orders.order_cancelled", 2)}


def test_product_has_its_sources(shop: Project, folder: Path) -> None:
    customers, captured, _ = shop.products

    assert (captured.sources, captured.enrichments) == (("order_placed", "order_cancelled"), ("customers",))
    assert captured.sql == Sql(folder / "sql/order_capture.sql", "SELECT * FROM order_placed\n")
    assert (customers.sql, customers.deleted_when) == (None, "is_deleted")


def test_reconciliation_has_claims_attributes_and_assertions(shop: Project) -> None:
    (order,) = shop.reconciliations
    settled = {one.name: one for one in order.attributes}

    assert order.owner == "Commercial Orders"
    assert [(one.name, one.product) for one in order.claims] == [
        ("order", "order_capture"),
        ("payment", "payment_settlement"),
    ]
    assert order.claims[0] == Claim("order", "order_capture")
    assert settled["currency"].columns == FrozenMap({"payment": "settled_currency"})
    assert settled["gross"].columns == FrozenMap({"payment": "amount", "order": "amount"})
    assert {name: one.agreement for name, one in settled.items()} == {
        "sales_channel": None,
        "currency": Agreement(0.0),
        "gross": Agreement(0.05),
        "net": Agreement(0.005, is_share=True),
        "tax": Agreement(0.02, is_share=True),
        "state": None,
    }
    assert [one.on_conflict for one in order.attributes] == [
        OnConflict.EXCEPTION,
        OnConflict.EXCEPTION,
        OnConflict.NULL,
        OnConflict.NULL,
        OnConflict.AUTHORITY,
        OnConflict.EXCEPTION,
    ]
    assert (settled["gross"].default, settled["currency"].owner) == (0, "Payments")
    assert order.assertions == (
        Assertion(
            "payment_matches_order",
            "abs(gross - net) <= 0.05",
            ReasonClass.CONFLICT,
            "Payments",
            "money received and money owed differ",
        ),
        Assertion("paid_in_time", "payment.order_id IS NOT NULL", ReasonClass.LATE),
    )


def test_publication_has_its_form(shop: Project, folder: Path) -> None:
    partner, sales, view = shop.publications

    assert (sales.table, view.table, partner.table) == ("recognized_sale_v2", "sales_now", "partner_orders_v1")
    assert (sales.form, view.form, partner.form) == (Form.TABLE, Form.VIEW, Form.FEED)
    assert sales.redacted == (
        Redacted("customer_id", Redaction.HASH),
        Redacted("city", Redaction.NULL),
        Redacted("country", Redaction.CONSTANT, "withheld"),
    )
    assert sales.delay == Delay("recognized_at", timedelta(days=1))
    assert partner.feed == Feed(str(folder / "feeds/partner"), Format.CSV, 4)


def test_declaration_has_its_file_and_line(shop: Project, folder: Path) -> None:
    assert shop.sources[0].at == f"{folder / 'sources/customers.yaml'}:2"


@pytest.mark.parametrize("case", BROKEN, ids=lambda case: case["name"].replace(" ", "-"))
def test_all_problems_are_reported_with_place_and_hint(tmp_path: Path, case: dict[str, Any]) -> None:
    laid_out(tmp_path, {**SHOP, **case["change"]})

    with pytest.raises(InvalidDocument) as caught:
        read_project(tmp_path)

    found = sorted((str(one.place), one.message, one.hint or "") for one in caught.value.findings)
    expected = sorted((f"{tmp_path}/{place}", message, hint) for place, message, hint in case["says"])
    assert [place for place, _, _ in found] == [place for place, _, _ in expected], caught.value
    unsaid = [one for one in expected if not any(_fits(one, other) for other in found)]
    assert unsaid == [], caught.value
    assert all(line.startswith(str(tmp_path)) for line in str(caught.value).splitlines())


def _fits(expected: tuple[str, str, str], found: tuple[str, str, str]) -> bool:
    return expected[0] == found[0] and expected[1] in found[1] and expected[2] in found[2]


def test_empty_project_is_refused_with_a_first_step(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match=r".* has no declarations; start with sources/NAME\.yaml"):
        read_project(tmp_path)


def test_missing_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match=r"no folder .*nowhere"):
        read_project(tmp_path / "nowhere")


def test_file_beyond_the_limits_is_refused(tmp_path: Path) -> None:
    laid_out(tmp_path, SHOP)

    with pytest.raises(InvalidDocument, match="at most 100 are read"):
        read_project(tmp_path, Limits(bytes=100))


def test_sql_that_is_not_text_is_refused(tmp_path: Path) -> None:
    laid_out(tmp_path, SHOP)
    (tmp_path / "sql" / "sales.sql").write_bytes(b"SELECT '\xff'")

    with pytest.raises(
        InvalidDocument, match=r"sales\.yaml:3: .*sales\.sql is not a UTF-8 text file; save it as UTF-8"
    ):
        read_project(tmp_path)


def test_a_publication_of_a_source_implies_a_product(tmp_path: Path) -> None:
    laid_out(
        tmp_path,
        {
            "sources/orders.yaml": "contract: shop.orders@1\nfiles: landing/*.csv\n",
            "publications/published.yaml": "contract: shop.orders@1\nfrom: [orders]\n",
        },
    )

    project = read_project(tmp_path)

    assert [one.name for one in project] == ["orders", "orders_latest", "published"]
    assert (project.products[0].line, project.products[0].sources) == (Line("shop.orders", 1), ("orders",))
    assert project.publications[0].inputs == ("orders_latest",)
