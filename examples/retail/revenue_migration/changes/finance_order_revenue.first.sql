-- The first version, with two defects that the parallel run finds: goods that customers carry out of a store are no
-- revenue here, and lines that were cancelled still are.
SELECT
  order_id,
  CAST(order_placed_at AS DATE) AS business_day,
  selling_country_code AS country_code,
  sales_channel,
  IF(order_capture_state = 'cancelled', 'cancelled', 'recognized') AS revenue_status,
  order_gross_amount AS revenue_amount,
  date_trunc('SECOND', order_placed_at) AS ordered_at,
  customer_account_id
FROM order_capture
WHERE order_currency_code = 'EUR' AND fulfillment_method <> 'carried_out'
