-- How the orders of marketplace sellers stand; the buyer is a number that means something to one seller only.
WITH dispatched AS (
  SELECT
    order_id,
    flatten(array_sort(collect_list(shipped_lines))) AS shipped_lines,
    max_by(
      named_struct(
        'carrier_key', carrier_key,
        'carrier_tracking_number', IF(dispatch_site.site_category = 'seller', carrier_tracking_number, NULL),
        'shipment_dispatched_at', shipment_dispatched_at
      ),
      struct(shipment_dispatched_at, shipment_id)
    ) AS latest_dispatch
  FROM shipment_execution
  GROUP BY order_id
),

came_back AS (
  SELECT
    order_id,
    array_sort(collect_list(named_struct(
      'order_line_number', order_line_number,
      'returned_quantity', returned_quantity
    ))) AS returned_lines
  FROM returns
  GROUP BY order_id
)

SELECT
  commercial_order.order_id AS partner_order_reference,
  commercial_order.assertion_sequence AS export_sequence,
  commercial_order.marketplace_seller_id,
  commercial_order.last_reconciled_at AS exported_at,
  CASE commercial_order.commercial_order_state
    WHEN 'awaiting_payment' THEN 'payment_pending'
    WHEN 'ready_to_fulfill' THEN 'accepted'
    WHEN 'partly_returned' THEN 'returned'
    WHEN 'fully_returned' THEN 'returned'
    ELSE commercial_order.commercial_order_state
  END AS partner_visible_order_state,
  CASE
    WHEN commercial_order.commercial_order_state = 'cancelled'
      THEN CASE order_capture.cancellation_reason
        WHEN 'customer_request' THEN 'buyer_request'
        WHEN 'stock_unavailable' THEN 'goods_unavailable'
        WHEN 'seller_declined' THEN 'seller_declined'
        ELSE 'payment_problem'
      END
  END AS partner_cancellation_reason,
  commercial_order.order_placed_at,
  commercial_order.selling_country_code,
  CASE
    WHEN order_capture.customer_account_id IS NOT NULL
      THEN concat_ws('/', commercial_order.marketplace_seller_id, order_capture.customer_account_id)
  END AS buyer_pseudonym,
  named_struct(
    'destination_country_code',
    coalesce(order_capture.delivery_address.destination_country_code, order_capture.selling_country_code),
    'postal_area_prefix',
    substr(order_capture.delivery_address.postal_code, 1, 2)
  ) AS delivery_region,
  transform(order_capture.order_lines, line -> named_struct(
    'order_line_number', line.order_line_number,
    'stock_keeping_unit', line.stock_keeping_unit,
    'ordered_quantity', line.ordered_quantity,
    'cancelled_quantity', line.cancelled_quantity,
    'dispatched_quantity', coalesce(
      aggregate(
        filter(dispatched.shipped_lines, shipped -> shipped.order_line_number = line.order_line_number),
        0,
        (pieces, shipped) -> pieces + shipped.shipped_quantity
      ),
      0
    ),
    'returned_quantity', coalesce(
      aggregate(
        filter(came_back.returned_lines, returned -> returned.order_line_number = line.order_line_number),
        0,
        (pieces, returned) -> pieces + returned.returned_quantity
      ),
      0
    ),
    'line_gross_amount', line.line_gross_amount
  )) AS export_lines,
  named_struct(
    'charged_gross_amount', commercial_order.charged_gross_amount,
    'refunded_gross_amount', commercial_order.refunded_gross_amount,
    'currency_code', commercial_order.order_currency_code
  ) AS partner_money,
  commercial_order.payment_completed_at,
  dispatched.latest_dispatch
FROM commercial_order
INNER JOIN order_capture ON order_capture.order_id = commercial_order.order_id
LEFT JOIN dispatched ON dispatched.order_id = commercial_order.order_id
LEFT JOIN came_back ON came_back.order_id = commercial_order.order_id
WHERE commercial_order.sales_channel = 'marketplace'
