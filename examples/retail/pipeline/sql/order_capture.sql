-- An order as it was first placed, with what was cancelled since folded into its lines.
-- A cancellation whose placement never came gives a row without lines, which the contract then refuses.
WITH placements AS (
  SELECT
    *,
    row_number() OVER (PARTITION BY order_id ORDER BY order_event_sequence, order_placed_at, event_id) AS place,
    count(*) OVER (PARTITION BY order_id) AS placement_count
  FROM order_placed
),

placed AS (
  SELECT * FROM placements WHERE place = 1
),

cancelled AS (
  SELECT
    order_id,
    flatten(array_sort(collect_list(cancelled_lines))) AS cancelled_lines,
    sum(cancelled_total.gross_amount) AS cancelled_gross_amount,
    max_by(cancellation_reason, struct(order_event_sequence, order_cancelled_at, event_id)) AS cancellation_reason,
    max_by(order_cancelled_at, struct(order_event_sequence, order_cancelled_at, event_id)) AS order_cancelled_at,
    max(order_event_sequence) AS order_event_sequence
  FROM order_cancelled
  GROUP BY order_id
),

both_sides AS (
  SELECT
    coalesce(placed.order_id, cancelled.order_id) AS order_id,
    placed.sales_channel,
    placed.selling_country_code,
    placed.store_number,
    placed.marketplace_seller_id,
    placed.customer_account_id,
    placed.fulfillment_method,
    placed.pickup_store_number,
    placed.promised_delivery_date,
    placed.delivery_address,
    transform(
      placed.order_lines,
      line -> named_struct(
        'order_line_number', line.order_line_number,
        'stock_keeping_unit', line.stock_keeping_unit,
        'ordered_quantity', line.ordered_quantity,
        'cancelled_quantity', coalesce(
          aggregate(
            filter(cancelled.cancelled_lines, dropped -> dropped.order_line_number = line.order_line_number),
            0,
            (pieces, dropped) -> pieces + dropped.cancelled_quantity
          ),
          0
        ),
        'available_to_promise_quantity', line.available_to_promise_quantity,
        'line_gross_amount', line.line_gross_amount,
        'line_tax_amount', line.line_tax_amount,
        'line_discount_amount', coalesce(
          aggregate(
            map_values(line.discount_by_promotion),
            CAST(0 AS DECIMAL(12, 2)),
            (total, reduction) -> CAST(total + reduction AS DECIMAL(12, 2))
          ),
          CAST(0 AS DECIMAL(12, 2))
        )
      )
    ) AS order_lines,
    placed.order_total,
    CAST(coalesce(cancelled.cancelled_gross_amount, 0) AS DECIMAL(12, 2)) AS cancelled_gross_amount,
    cancelled.cancellation_reason,
    placed.order_placed_at,
    cancelled.order_cancelled_at,
    CAST(placed.placement_count AS INT) AS placement_count,
    greatest(placed.order_event_sequence, cancelled.order_event_sequence) AS last_order_event_sequence
  FROM placed
  FULL OUTER JOIN cancelled ON placed.order_id = cancelled.order_id
)

SELECT
  order_id,
  sales_channel,
  selling_country_code,
  store_number,
  marketplace_seller_id,
  customer_account_id,
  fulfillment_method,
  pickup_store_number,
  promised_delivery_date,
  delivery_address,
  order_lines,
  order_total.gross_amount AS order_gross_amount,
  order_total.tax_amount AS order_tax_amount,
  order_total.shipping_fee_amount AS shipping_fee_amount,
  cancelled_gross_amount,
  order_total.currency_code AS order_currency_code,
  CASE
    WHEN forall(order_lines, line -> line.cancelled_quantity >= line.ordered_quantity) THEN 'cancelled'
    WHEN exists(order_lines, line -> line.cancelled_quantity > 0) THEN 'partly_cancelled'
    WHEN order_lines IS NOT NULL THEN 'accepted'
  END AS order_capture_state,
  cancellation_reason,
  order_placed_at,
  order_cancelled_at,
  placement_count,
  last_order_event_sequence
FROM both_sides
