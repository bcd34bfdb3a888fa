-- What an order comes to: what was ordered, paid, sent and returned, side by side, and what follows from that.
WITH together AS (
  SELECT
    ordered.*,
    coalesce(paid.charged_gross_amount, CAST(0 AS DECIMAL(12, 2))) AS charged_gross_amount,
    coalesce(paid.refunded_gross_amount, CAST(0 AS DECIMAL(12, 2))) AS refunded_gross_amount,
    paid.reporting_exchange_rate,
    paid.charges,
    paid.first_charged_at,
    coalesce(paid.is_called_back, FALSE) AS is_called_back,
    paid.order_id IS NOT NULL AND NOT paid.is_retrying AS is_tried_no_more,
    coalesce(sent.dispatched_quantity, 0) AS dispatched_quantity,
    sent.latest_at AS last_dispatched_at,
    coalesce(back.returned_quantity, 0) AS returned_quantity,
    coalesce(back.returned_gross_amount, CAST(0 AS DECIMAL(12, 2))) AS returned_gross_amount,
    greatest(ordered.latest_at, paid.latest_at, sent.latest_at, back.latest_at) AS last_reconciled_at,
    ordered.events + coalesce(paid.events, 0) + coalesce(sent.events, 0) + coalesce(back.events, 0)
      AS assertion_sequence
  FROM order_claim AS ordered
  LEFT JOIN payment_claim AS paid ON paid.order_id = ordered.order_id
  LEFT JOIN shipment_claim AS sent ON sent.order_id = ordered.order_id
  LEFT JOIN return_claim AS back ON back.order_id = ordered.order_id
),

settled AS (
  SELECT
    *,
    charged_gross_amount - refunded_gross_amount
      - (order_gross_amount - cancelled_gross_amount - returned_gross_amount) AS payment_variance_amount,
    array_min(transform(
      filter(charges, charge -> charge.charged_so_far >= order_gross_amount - cancelled_gross_amount - 0.05),
      charge -> charge.settled_at
    )) AS payment_completed_at,
    CASE
      WHEN standing_quantity > 0 AND dispatched_quantity >= standing_quantity THEN last_dispatched_at
    END AS control_transferred_at
  FROM together
),

judged AS (
  SELECT
    *,
    CASE
      WHEN abs(payment_variance_amount) <= 0.05 THEN 'settled'
      WHEN is_called_back THEN 'failed'
      WHEN charged_gross_amount = 0 AND is_tried_no_more THEN 'failed'
      ELSE 'unresolved'
    END AS payment_resolution_status
  FROM settled
)

SELECT
  order_id,
  sales_channel,
  selling_country_code,
  marketplace_seller_id,
  order_currency_code,
  order_gross_amount AS ordered_gross_amount,
  order_tax_amount AS ordered_tax_amount,
  discount_amount,
  cancelled_gross_amount,
  order_placed_at,
  charged_gross_amount,
  refunded_gross_amount,
  reporting_exchange_rate,
  dispatched_quantity,
  payment_resolution_status,
  payment_completed_at,
  CASE
    WHEN fulfillment_method = 'store_pickup' THEN order_placed_at
    WHEN first_charged_at IS NOT NULL THEN greatest(order_placed_at, first_charged_at)
  END AS fulfillment_ready_at,
  control_transferred_at,
  CASE
    WHEN dispatched_quantity = 0 AND standing_quantity = 0 THEN 'cancelled'
    WHEN dispatched_quantity = 0 AND (payment_resolution_status = 'settled' OR fulfillment_method = 'store_pickup')
      THEN 'ready_to_fulfill'
    WHEN dispatched_quantity = 0 THEN 'awaiting_payment'
    WHEN returned_quantity >= dispatched_quantity THEN 'fully_returned'
    WHEN returned_quantity > 0 THEN 'partly_returned'
    WHEN dispatched_quantity >= standing_quantity THEN 'dispatched'
    ELSE 'partly_dispatched'
  END AS commercial_order_state,
  CASE
    WHEN payment_completed_at IS NULL OR control_transferred_at IS NULL THEN 'not_recognized'
    WHEN is_called_back OR returned_quantity > 0 THEN 'reversed'
    WHEN payment_resolution_status = 'settled' THEN 'recognized'
    ELSE 'not_recognized'
  END AS financial_recognition_status,
  last_reconciled_at,
  assertion_sequence
FROM judged
