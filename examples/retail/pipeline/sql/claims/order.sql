-- What order capture claims: what was bought, what fell away, and how often the identity was given out.
SELECT
  order_id,
  sales_channel,
  selling_country_code,
  marketplace_seller_id,
  fulfillment_method,
  order_gross_amount,
  order_tax_amount,
  cancelled_gross_amount,
  order_currency_code,
  CAST(
    aggregate(order_lines, CAST(0 AS DECIMAL(12, 2)),
      (total, line) -> CAST(total + coalesce(line.line_discount_amount, 0) AS DECIMAL(12, 2)))
    AS DECIMAL(12, 2)
  ) AS discount_amount,
  aggregate(order_lines, 0, (pieces, line) -> pieces + line.ordered_quantity) AS ordered_quantity,
  aggregate(
    order_lines, 0, (pieces, line) -> pieces + line.ordered_quantity - line.cancelled_quantity
  ) AS standing_quantity,
  order_placed_at,
  placement_count,
  last_order_event_sequence AS events,
  coalesce(order_cancelled_at, order_placed_at) AS latest_at
FROM order_capture
