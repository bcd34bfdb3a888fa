-- What shipment execution claims, over all shipments of an order.
SELECT
  order_id,
  CAST(
    sum(aggregate(shipped_lines, 0, (pieces, line) -> pieces + line.shipped_quantity)) AS INT
  ) AS dispatched_quantity,
  min(shipment_dispatched_at) AS first_dispatched_at,
  max(shipment_dispatched_at) AS latest_at,
  count(*) AS events
FROM shipment_execution
GROUP BY order_id
