"""The job that a good engineer writes without contracts: parse, deduplicate, query, write.

It keeps no raw bytes, judges no row, sets none apart and knows no exceptions: it trusts what it reads. What several
queries read is cached.
"""

from __future__ import annotations

import hmac
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from benchmarks.peers import HOME

SQL = HOME / "examples" / "retail" / "pipeline" / "sql"
COMMERCIAL_ORDER = Path(__file__).with_name("commercial_order.sql")
CATALOG = "by_hand"
DATABASE = f"{CATALOG}.final"

EVENTS = {
    "order_placed": (
        "retail.orders.order_placed",
        """
        event_id STRING, order_id STRING, order_event_sequence BIGINT, order_placed_at TIMESTAMP,
        sales_channel STRING, selling_country_code STRING, store_number STRING, marketplace_seller_id STRING,
        customer_account_id STRING, customer_email_address STRING, fulfillment_method STRING,
        pickup_store_number STRING, promised_delivery_date DATE,
        delivery_address STRUCT<recipient_name: STRING, street_line: STRING, city_name: STRING, postal_code: STRING,
          destination_country_code: STRING, recipient_phone_number: STRING>,
        order_lines ARRAY<STRUCT<order_line_number: INT, stock_keeping_unit: STRING, ordered_quantity: INT,
          available_to_promise_quantity: INT, unit_price_gross_amount: DECIMAL(12, 2),
          line_gross_amount: DECIMAL(12, 2), line_tax_amount: DECIMAL(12, 2),
          discount_by_promotion: MAP<STRING, DECIMAL(12, 2)>>>,
        order_total STRUCT<gross_amount: DECIMAL(12, 2), tax_amount: DECIMAL(12, 2),
          shipping_fee_amount: DECIMAL(12, 2), currency_code: STRING>
        """,
    ),
    "order_cancelled": (
        "retail.orders.order_cancelled",
        """
        event_id STRING, order_id STRING, order_event_sequence BIGINT, order_cancelled_at TIMESTAMP,
        cancellation_scope STRING, cancellation_initiator STRING, cancellation_reason STRING,
        sales_channel STRING, selling_country_code STRING,
        cancelled_lines ARRAY<STRUCT<order_line_number: INT, stock_keeping_unit: STRING, cancelled_quantity: INT,
          cancelled_line_gross_amount: DECIMAL(12, 2)>>,
        cancelled_total STRUCT<gross_amount: DECIMAL(12, 2), currency_code: STRING>,
        remaining_open_line_count INT, is_refund_due BOOLEAN, customer_informed_at TIMESTAMP
        """,
    ),
    "payment_settled": (
        "retail.payments.payment_settled",
        """
        event_id STRING, payment_id STRING, order_id STRING, payment_event_sequence BIGINT,
        payment_settled_at TIMESTAMP, settlement_value_date DATE, settlement_direction STRING,
        payment_method_family STRING, payment_provider_key STRING, provider_settlement_reference STRING,
        settlement_batch_reference STRING,
        settled_money STRUCT<gross_amount: DECIMAL(12, 2), acquirer_fee_amount: DECIMAL(12, 2), currency_code: STRING>,
        reporting_exchange_rate DECIMAL(18, 8), refunded_return_id STRING, instalment_number INT,
        sales_channel STRING, selling_country_code STRING
        """,
    ),
    "payment_failed": (
        "retail.payments.payment_failed",
        """
        event_id STRING, payment_id STRING, order_id STRING, payment_event_sequence BIGINT,
        payment_failed_at TIMESTAMP, payment_failure_stage STRING, payment_failure_reason STRING,
        attempt_number INT, is_retry_scheduled BOOLEAN, next_attempt_at TIMESTAMP,
        attempted_money STRUCT<gross_amount: DECIMAL(12, 2), currency_code: STRING>,
        payment_method_family STRING, payment_provider_key STRING, sales_channel STRING, selling_country_code STRING
        """,
    ),
    "shipment_dispatched": (
        "retail.shipments.shipment_dispatched",
        """
        event_id STRING, shipment_id STRING, order_id STRING, shipment_sequence_in_order BIGINT,
        shipment_dispatched_at TIMESTAMP,
        dispatch_site STRUCT<site_number: STRING, site_category: STRING, site_country_code: STRING>,
        shipment_destination STRUCT<destination_country_code: STRING, postal_area_prefix: STRING>,
        carrier_key STRING, carrier_service_level STRING, carrier_tracking_number STRING, estimated_arrival_date DATE,
        shipped_lines ARRAY<STRUCT<order_line_number: INT, stock_keeping_unit: STRING, shipped_quantity: INT>>,
        shipment_parcels ARRAY<STRUCT<parcel_number: INT, parcel_gross_weight: DECIMAL(8, 3),
          packed_quantity_by_article: MAP<STRING, INT>>>,
        is_final_shipment BOOLEAN
        """,
    ),
    "return_received": (
        "retail.returns.return_received",
        """
        event_id STRING, return_id STRING, order_id STRING, return_received_at TIMESTAMP,
        return_announced_at TIMESTAMP, return_intake_channel STRING, intake_site_number STRING,
        intake_country_code STRING, sales_channel STRING, is_within_return_window BOOLEAN,
        returned_lines ARRAY<STRUCT<order_line_number: INT, stock_keeping_unit: STRING, returned_quantity: INT,
          return_reason: STRING, received_condition: STRING, refundable_line_gross_amount: DECIMAL(12, 2)>>,
        refund_due STRUCT<gross_amount: DECIMAL(12, 2), tax_amount: DECIMAL(12, 2), currency_code: STRING>,
        refund_form_requested STRING
        """,
    ),
}
PRODUCTS = ("order_capture", "payment_settlement", "shipment_execution", "returns")
CLAIMS = ("order", "payment", "shipment", "return")
FINAL = {
    "finance_recognized_sale_v1": "finance_recognized_sale_v1.sql",
    "finance_recognized_sale_v2": "finance_recognized_sale_v2.sql",
    "fulfillment_order_ready_v1": "fulfillment_order_ready.sql",
    "customer_order_timeline_v1": "customer_order_timeline.sql",
    "marketplace_partner_order_export_v1": "marketplace_partner_order_export.sql",
}
FEED = "marketplace_partner_order_export_v1"


def run(spark: SparkSession, landing: Path, feed: Path, hash_key: bytes) -> None:
    """Make the final tables from the files that arrived, and the partners' file from one of them."""

    @F.udf("string")
    def hashed(value: str | None) -> str | None:
        return None if value is None else "1:" + hmac.digest(hash_key, value.encode(), "sha256").hex()

    for name, (folder, columns) in EVENTS.items():
        read = spark.read.schema(columns).json(str(landing / folder)).where("event_id IS NOT NULL")
        read.dropDuplicates(["event_id"]).createOrReplaceTempView(name)
    for name in PRODUCTS:
        _queried(spark, SQL / f"{name}.sql").cache().createOrReplaceTempView(name)
    for name in CLAIMS:
        _queried(spark, SQL / "claims" / f"{name}.sql").createOrReplaceTempView(f"{name}_claim")
    _queried(spark, COMMERCIAL_ORDER).cache().createOrReplaceTempView("commercial_order")
    spark.sql(f"CREATE NAMESPACE IF NOT EXISTS {DATABASE}")
    for name, file in FINAL.items():
        rows = _queried(spark, SQL / file)
        if name == FEED:
            rows = rows.withColumn("buyer_pseudonym", hashed("buyer_pseudonym"))
        rows.writeTo(f"{DATABASE}.{name}").using("iceberg").createOrReplace()
    spark.table(f"{DATABASE}.{FEED}").coalesce(1).write.mode("overwrite").json(str(feed))


def _queried(spark: SparkSession, file: Path) -> DataFrame:
    return spark.sql(file.read_text(encoding="utf-8"))
