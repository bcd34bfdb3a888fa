-- What returns handling claims, over all returns of an order.
SELECT
  order_id,
  CAST(sum(returned_quantity) AS INT) AS returned_quantity,
  CAST(sum(refundable_line_gross_amount) AS DECIMAL(12, 2)) AS returned_gross_amount,
  array_sort(collect_set(return_id)) AS return_ids,
  max(return_received_at) AS latest_at,
  count(DISTINCT return_id) AS events
FROM returns
GROUP BY order_id
