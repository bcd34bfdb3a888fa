-- The timeline of an order as far as order capture knows it: received, and cancelled in part or in full.
WITH entries AS (
  SELECT
    *,
    1 AS step,
    'order_received' AS kind,
    order_placed_at AS happened_at,
    order_gross_amount AS money,
    'Order received' AS headline,
    concat('We have your order ', order_id, '. Thank you.') AS english
  FROM order_capture
  UNION ALL
  SELECT
    *,
    2 AS step,
    'order_cancelled' AS kind,
    order_cancelled_at AS happened_at,
    cancelled_gross_amount AS money,
    IF(order_capture_state = 'cancelled', 'Order cancelled', 'Part of the order cancelled') AS headline,
    IF(
      order_capture_state = 'cancelled',
      'Your order was cancelled.',
      'A part of your order was cancelled; the rest will come.'
    ) AS english
  FROM order_capture
  WHERE order_cancelled_at IS NOT NULL
)

SELECT
  order_id,
  CAST(row_number() OVER (PARTITION BY order_id ORDER BY happened_at, step) AS INT) AS timeline_entry_number,
  kind AS timeline_entry_kind,
  happened_at AS entry_happened_at,
  greatest(happened_at, order_placed_at) AS entry_published_at,
  headline AS entry_headline,
  map('en', english) AS narrative_text_by_language,
  'provisional' AS narrative_confidence,
  TRUE AS is_visible_to_customer,
  CAST(NULL AS INT) AS replaced_entry_number,
  customer_account_id,
  sales_channel,
  selling_country_code,
  IF(kind = 'order_cancelled' AND sales_channel = 'marketplace', 'hand_to_seller', 'nothing_to_do')
    AS suggested_next_step,
  CASE
    WHEN kind = 'order_cancelled' THEN transform(
      filter(order_lines, line -> line.cancelled_quantity > 0),
      line -> named_struct(
        'order_line_number', line.order_line_number,
        'stock_keeping_unit', line.stock_keeping_unit,
        'affected_quantity', line.cancelled_quantity
      )
    )
  END AS affected_lines,
  named_struct('gross_amount', CAST(money AS DECIMAL(12, 2)), 'currency_code', order_currency_code)
    AS mentioned_money,
  CAST(NULL AS STRUCT<
    shipment_id: STRING, carrier_key: STRING, carrier_tracking_number: STRING, estimated_arrival_date: DATE
  >) AS mentioned_shipment,
  CAST(NULL AS STRING) AS mentioned_return_id
FROM entries
