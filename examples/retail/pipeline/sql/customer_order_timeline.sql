-- The story of an order, told from whatever product knows a piece of it; what all sources agree on is confirmed.
WITH told AS (
  SELECT
    order_id,
    'order_received' AS kind,
    1 AS step,
    order_id AS about,
    order_placed_at AS happened_at,
    CAST(NULL AS ARRAY<STRUCT<order_line_number: INT, stock_keeping_unit: STRING, affected_quantity: INT>>) AS lines,
    order_gross_amount AS money,
    order_currency_code AS currency_code,
    CAST(NULL AS STRUCT<
      shipment_id: STRING, carrier_key: STRING, carrier_tracking_number: STRING, estimated_arrival_date: DATE
    >) AS shipment,
    CAST(NULL AS STRING) AS return_id
  FROM order_capture
  UNION ALL
  SELECT
    order_id,
    'order_cancelled' AS kind,
    4 AS step,
    order_id AS about,
    order_cancelled_at AS happened_at,
    transform(
      filter(order_lines, line -> line.cancelled_quantity > 0),
      line -> named_struct(
        'order_line_number', line.order_line_number,
        'stock_keeping_unit', line.stock_keeping_unit,
        'affected_quantity', line.cancelled_quantity
      )
    ) AS lines,
    cancelled_gross_amount AS money,
    order_currency_code AS currency_code,
    NULL AS shipment,
    NULL AS return_id
  FROM order_capture
  WHERE order_cancelled_at IS NOT NULL
  UNION ALL
  SELECT
    order_id,
    IF(settlement_direction = 'refund', 'refund_sent', 'payment_confirmed') AS kind,
    IF(settlement_direction = 'refund', 7, 3) AS step,
    payment_id AS about,
    payment_settled_at AS happened_at,
    NULL AS lines,
    settled_gross_amount AS money,
    settlement_currency_code AS currency_code,
    NULL AS shipment,
    refunded_return_id AS return_id
  FROM payment_settlement
  WHERE payment_settlement_state IN ('settled', 'called_back') AND payment_settled_at IS NOT NULL
  UNION ALL
  SELECT
    order_id,
    'payment_problem' AS kind,
    2 AS step,
    payment_id AS about,
    payment_failed_at AS happened_at,
    NULL AS lines,
    NULL AS money,
    NULL AS currency_code,
    NULL AS shipment,
    NULL AS return_id
  FROM payment_settlement
  WHERE payment_failed_at IS NOT NULL
  UNION ALL
  SELECT
    order_id,
    'handed_to_carrier' AS kind,
    5 AS step,
    shipment_id AS about,
    shipment_dispatched_at AS happened_at,
    transform(shipped_lines, line -> named_struct(
      'order_line_number', line.order_line_number,
      'stock_keeping_unit', line.stock_keeping_unit,
      'affected_quantity', line.shipped_quantity
    )) AS lines,
    NULL AS money,
    NULL AS currency_code,
    named_struct(
      'shipment_id', shipment_id,
      'carrier_key', carrier_key,
      'carrier_tracking_number', carrier_tracking_number,
      'estimated_arrival_date', estimated_arrival_date
    ) AS shipment,
    NULL AS return_id
  FROM shipment_execution
  UNION ALL
  SELECT
    order_id,
    'return_arrived' AS kind,
    6 AS step,
    return_id AS about,
    max(return_received_at) AS happened_at,
    array_sort(collect_list(named_struct(
      'order_line_number', order_line_number,
      'stock_keeping_unit', stock_keeping_unit,
      'affected_quantity', returned_quantity
    ))) AS lines,
    sum(refundable_line_gross_amount) AS money,
    max(refund_currency_code) AS currency_code,
    NULL AS shipment,
    return_id
  FROM returns
  GROUP BY order_id, return_id
)

SELECT
  told.order_id,
  CAST(
    row_number() OVER (PARTITION BY told.order_id ORDER BY told.happened_at, told.step, told.about) AS INT
  ) AS timeline_entry_number,
  told.kind AS timeline_entry_kind,
  told.happened_at AS entry_happened_at,
  greatest(told.happened_at, order_capture.order_placed_at) AS entry_published_at,
  CASE told.kind
    WHEN 'order_received' THEN 'Order received'
    WHEN 'payment_confirmed' THEN 'Payment confirmed'
    WHEN 'payment_problem' THEN 'Payment did not work'
    WHEN 'handed_to_carrier' THEN IF(told.shipment.carrier_key IS NULL, 'Handed over in the store', 'On its way')
    WHEN 'order_cancelled' THEN IF(
      order_capture.order_capture_state = 'cancelled', 'Order cancelled', 'Part of the order cancelled'
    )
    WHEN 'return_arrived' THEN 'Return arrived'
    WHEN 'refund_sent' THEN 'Refund sent'
  END AS entry_headline,
  map(
    'en',
    CASE told.kind
      WHEN 'order_received' THEN concat('We have your order ', told.order_id, '. Thank you.')
      WHEN 'payment_confirmed' THEN concat('Your payment of ', told.money, ' ', told.currency_code, ' has arrived.')
      WHEN 'payment_problem' THEN 'A payment for your order did not work.'
      WHEN 'handed_to_carrier' THEN IF(
        told.shipment.carrier_key IS NULL,
        'Your goods were handed over in the store.',
        concat('Your goods left us with ', told.shipment.carrier_key, '.')
      )
      WHEN 'order_cancelled' THEN IF(
        order_capture.order_capture_state = 'cancelled',
        'Your order was cancelled.',
        'A part of your order was cancelled; the rest will come.'
      )
      WHEN 'return_arrived' THEN 'Your parcel is back with us.'
      WHEN 'refund_sent' THEN concat('We sent ', told.money, ' ', told.currency_code, ' back to you.')
    END,
    'de',
    CASE told.kind
      WHEN 'order_received' THEN concat('Wir haben Ihre Bestellung ', told.order_id, ' erhalten. Vielen Dank.')
      WHEN 'payment_confirmed' THEN concat('Ihre Zahlung über ', told.money, ' ', told.currency_code, ' ist da.')
      WHEN 'payment_problem' THEN 'Eine Zahlung für Ihre Bestellung hat nicht geklappt.'
      WHEN 'handed_to_carrier' THEN IF(
        told.shipment.carrier_key IS NULL,
        'Ihre Ware wurde im Geschäft übergeben.',
        concat('Ihre Ware ist mit ', told.shipment.carrier_key, ' unterwegs.')
      )
      WHEN 'order_cancelled' THEN IF(
        order_capture.order_capture_state = 'cancelled',
        'Ihre Bestellung wurde storniert.',
        'Ein Teil Ihrer Bestellung wurde storniert; der Rest kommt.'
      )
      WHEN 'return_arrived' THEN 'Ihre Rücksendung ist bei uns.'
      WHEN 'refund_sent' THEN concat('Wir haben Ihnen ', told.money, ' ', told.currency_code, ' erstattet.')
    END
  ) AS narrative_text_by_language,
  IF(commercial_order.order_id IS NULL, 'provisional', 'confirmed') AS narrative_confidence,
  told.kind <> 'payment_problem' OR coalesce(commercial_order.payment_resolution_status, '') <> 'settled'
    AS is_visible_to_customer,
  CAST(NULL AS INT) AS replaced_entry_number,
  order_capture.customer_account_id,
  order_capture.sales_channel,
  order_capture.selling_country_code,
  CASE
    WHEN told.kind = 'payment_problem' AND coalesce(commercial_order.payment_resolution_status, '') <> 'settled'
      THEN 'ask_for_payment'
    WHEN told.kind = 'handed_to_carrier' AND told.shipment.carrier_key IS NOT NULL THEN 'wait_until_estimate'
    WHEN told.kind = 'order_cancelled' AND order_capture.sales_channel = 'marketplace' THEN 'hand_to_seller'
    ELSE 'nothing_to_do'
  END AS suggested_next_step,
  told.lines AS affected_lines,
  CASE
    WHEN told.money IS NOT NULL THEN named_struct(
      'gross_amount', CAST(told.money AS DECIMAL(12, 2)), 'currency_code', told.currency_code
    )
  END AS mentioned_money,
  told.shipment AS mentioned_shipment,
  told.return_id AS mentioned_return_id
FROM told
INNER JOIN order_capture ON order_capture.order_id = told.order_id
LEFT JOIN commercial_order ON commercial_order.order_id = told.order_id
