-- Releases of an order: one when nothing spoke against picking any more, another if it was cancelled after that.
WITH ready AS (
  SELECT
    order_capture.*,
    commercial_order.fulfillment_ready_at,
    commercial_order.payment_completed_at
  FROM commercial_order
  INNER JOIN order_capture ON order_capture.order_id = commercial_order.order_id
  WHERE order_capture.fulfillment_method <> 'carried_out'
    AND commercial_order.fulfillment_ready_at IS NOT NULL
    AND (
      order_capture.order_capture_state <> 'cancelled'
      OR order_capture.order_cancelled_at > commercial_order.fulfillment_ready_at
    )
),

left_before AS (
  SELECT
    ready.order_id,
    flatten(array_sort(collect_list(shipment_execution.shipped_lines))) AS shipped_lines
  FROM ready
  INNER JOIN shipment_execution ON shipment_execution.order_id = ready.order_id
  WHERE shipment_execution.shipment_dispatched_at < ready.order_cancelled_at
  GROUP BY ready.order_id
),

releases AS (
  SELECT
    ready.order_id,
    1 AS release_sequence,
    'pick' AS release_instruction,
    ready.fulfillment_ready_at AS released_at,
    transform(ready.order_lines, line -> named_struct(
      'order_line_number', line.order_line_number,
      'stock_keeping_unit', line.stock_keeping_unit,
      'quantity_to_pick', CASE
        WHEN ready.order_cancelled_at <= ready.fulfillment_ready_at
          THEN greatest(line.ordered_quantity - line.cancelled_quantity, 0)
        ELSE line.ordered_quantity
      END,
      'available_to_promise_quantity', line.available_to_promise_quantity
    )) AS pick_lines
  FROM ready
  UNION ALL
  SELECT
    ready.order_id,
    2 AS release_sequence,
    IF(ready.order_capture_state = 'cancelled', 'abandon', 'pick') AS release_instruction,
    ready.order_cancelled_at AS released_at,
    transform(ready.order_lines, line -> named_struct(
      'order_line_number', line.order_line_number,
      'stock_keeping_unit', line.stock_keeping_unit,
      'quantity_to_pick', greatest(
        line.ordered_quantity - line.cancelled_quantity - coalesce(
          aggregate(
            filter(left_before.shipped_lines, shipped -> shipped.order_line_number = line.order_line_number),
            0,
            (pieces, shipped) -> pieces + shipped.shipped_quantity
          ),
          0
        ),
        0
      ),
      'available_to_promise_quantity', line.available_to_promise_quantity
    )) AS pick_lines
  FROM ready
  LEFT JOIN left_before ON left_before.order_id = ready.order_id
  WHERE ready.order_cancelled_at > ready.fulfillment_ready_at
)

SELECT
  ready.order_id,
  CAST(releases.release_sequence AS BIGINT) AS release_sequence,
  releases.release_instruction,
  ready.fulfillment_ready_at,
  releases.released_at,
  CASE
    WHEN ready.payment_completed_at <= releases.released_at THEN 'settled'
    WHEN ready.fulfillment_method = 'store_pickup' THEN 'on_handover'
    ELSE 'expected'
  END AS payment_assurance_level,
  ready.fulfillment_method,
  CASE
    WHEN ready.promised_delivery_date <= date_add(CAST(releases.released_at AS DATE), 2) THEN 'expedited'
    ELSE 'regular'
  END AS fulfillment_priority,
  ready.promised_delivery_date,
  ready.sales_channel,
  ready.selling_country_code,
  ready.pickup_store_number,
  ready.delivery_address,
  releases.pick_lines,
  releases.released_at + INTERVAL 2 DAYS AS release_valid_until
FROM releases
INNER JOIN ready ON ready.order_id = releases.order_id
