"""The publications of the retailer: two lines with the same content, and files with pseudonyms."""

from __future__ import annotations

import hashlib
import hmac
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from tests.pipeline.retail.retailer import SECRET, Retailer

_EXPORT = "retail.publications.marketplace_partner_order_export@1"
_ENTRY = "recognition_entry_id"
_CENT = Decimal("0.01")
_GROSS = {"booking_country_code", "gross_sale_amount", "gross_reporting_amount"}
_NET = {
    "legal_entity_country_code",
    "net_sale_amount",
    "tax_amount",
    "net_reporting_amount",
    "tax_reporting_amount",
    "tax_amount_by_jurisdiction",
}


@pytest.mark.parametrize("wave", [1, 2])
def test_both_lines_of_recognized_sales_have_the_same_entries(retailer: Retailer, wave: int) -> None:
    first = {row[_ENTRY]: row for row in retailer.rows("publications.finance_recognized_sale_v1", wave)}
    second = {row[_ENTRY]: row for row in retailer.rows("publications.finance_recognized_sale_v2", wave)}

    assert {name: _without(row, _GROSS) for name, row in first.items()} == {
        name: _without(row, _NET) for name, row in second.items()
    }
    for name, gross in first.items():
        net = second[name]
        assert net["legal_entity_country_code"] == gross["booking_country_code"]
        assert net["net_sale_amount"] + net["tax_amount"] == gross["gross_sale_amount"]
        reported = net["net_reporting_amount"] + net["tax_reporting_amount"]
        assert abs(reported - gross["gross_reporting_amount"]) <= _CENT  # each of them is rounded


def test_books_have_resolved_orders_only(retailer: Retailer) -> None:
    orders = retailer.rows("reconciliation.commercial_order")
    held = {row["order_id"] for row in orders if row["_outcome"] == "held"}
    before, after = (retailer.rows("publications.finance_recognized_sale_v1", wave) for wave in (1, 2))

    assert held
    assert not held & {row["order_id"] for row in after}
    entries = {row[_ENTRY]: row for row in after}
    # chargebacks and returns are separate entries
    assert {row[_ENTRY]: row for row in before} == {row[_ENTRY]: entries[row[_ENTRY]] for row in before}
    assert {row["recognition_movement"] for row in after} == {"sale", "return_reversal", "chargeback_reversal"}


def test_partners_get_their_orders_with_pseudonyms_only(retailer: Retailer) -> None:
    captured = {row["order_id"]: row for row in retailer.rows("products.order_capture")}
    table = retailer.rows("publications.marketplace_partner_feed_v1")
    desk = {row["partner_order_reference"]: row for row in retailer.rows(f"publications.{_named()}")}
    buyers = 0

    for row in table:
        order = captured[row["partner_order_reference"]]
        buyer = order["customer_account_id"]
        who = f"{row['marketplace_seller_id']}/{buyer}" if buyer else None
        assert row["buyer_pseudonym"] == (_hashed("marketplace_partner_feed_v1", who) if who else None)
        same = desk[row["partner_order_reference"]]
        assert same["buyer_pseudonym"] == (_hashed(_named(), who) if who else None)
        assert _without(row, {"buyer_pseudonym"}) == _without(same, {"buyer_pseudonym"})
        assert order["sales_channel"] == "marketplace"
        buyers += buyer is not None
    assert len(table) == len(desk)
    assert buyers > 100

    text = _delivered(retailer)[1].read_text(encoding="utf-8")
    for order in captured.values():
        address = order["delivery_address"] or {}
        for secret in (order["customer_account_id"], order.get("customer_email_address"), address.get("street_line")):
            assert not secret or secret not in text


def test_delivery_matches_its_manifest_and_table(retailer: Retailer) -> None:
    manifest, file = _delivered(retailer)
    table = retailer.rows("publications.marketplace_partner_feed_v1")
    records = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]

    (listed,) = manifest["files"]
    assert listed["sha256"] == hashlib.sha256(file.read_bytes()).hexdigest()
    assert (listed["rows"], listed["bytes"]) == (len(records), file.stat().st_size)
    assert manifest["rows"] == len(records) == len(table)
    assert manifest["contract"] == {"id": _EXPORT.partition("@")[0], "version": "1.0.0"}
    pseudonyms = {row["partner_order_reference"]: row["buyer_pseudonym"] for row in table}
    assert {one["partner_order_reference"]: one.get("buyer_pseudonym") for one in records} == pseudonyms
    first = _folder(retailer) / f"run={retailer.summaries[0].run}" / "manifest.json"
    assert manifest["previous"] == {
        "run": retailer.summaries[0].run,
        "manifest_sha256": hashlib.sha256(first.read_bytes()).hexdigest(),
    }


def _named() -> str:
    return "marketplace_partner_order_export_v1"


def _hashed(table: str, who: str) -> str:
    """Return the pseudonym of a buyer, computed as documented."""
    secret = hmac.digest(SECRET.encode(), f"treaty hash {_EXPORT} {table}".encode(), "sha512")
    return "1:" + hmac.digest(secret, who.encode(), "sha256").hex()


def _folder(retailer: Retailer) -> Path:
    return retailer.folder / "feeds" / "marketplace_partner_order_export" / "marketplace_partner_feed_v1"


def _delivered(retailer: Retailer) -> tuple[dict[str, Any], Path]:
    """Return the newest manifest and its file, located as a partner would."""
    latest = json.loads((_folder(retailer) / "latest.json").read_bytes())
    path = _folder(retailer) / latest["manifest"]
    assert latest["manifest_sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
    assert latest["run"] == retailer.summaries[1].run
    manifest = json.loads(path.read_bytes())
    return manifest, path.parent / manifest["files"][0]["name"]


def _without(row: dict[str, Any], names: set[str]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in names}
