-- Returns line by line, as they were last announced.
WITH announced AS (
  SELECT
    *,
    row_number() OVER (PARTITION BY return_id ORDER BY return_received_at DESC, event_id DESC) AS place
  FROM return_received
)

SELECT
  return_id,
  line.order_line_number,
  order_id,
  line.stock_keeping_unit,
  line.returned_quantity,
  line.return_reason,
  line.received_condition,
  line.refundable_line_gross_amount,
  refund_due.currency_code AS refund_currency_code,
  refund_form_requested,
  return_received_at,
  return_announced_at,
  return_intake_channel,
  intake_site_number,
  intake_country_code,
  sales_channel,
  is_within_return_window
FROM announced
LATERAL VIEW explode(returned_lines) AS line
WHERE place = 1
