-- Revenue by order of the companies that book in euro: what was ordered, without what was taken out of it later.
SELECT
  order_id,
  CAST(order_placed_at AS DATE) AS business_day,
  selling_country_code AS country_code,
  sales_channel,
  IF(order_capture_state = 'cancelled', 'cancelled', 'recognized') AS revenue_status,
  CAST(
    order_gross_amount - IF(order_capture_state = 'partly_cancelled', cancelled_gross_amount, 0) AS DECIMAL(12, 2)
  ) AS revenue_amount,
  date_trunc('SECOND', order_placed_at) AS ordered_at,
  customer_account_id
FROM order_capture
WHERE order_currency_code = 'EUR'
