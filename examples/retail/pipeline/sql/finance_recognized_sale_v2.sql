-- The entries of line 1 with net amounts and the tax beside them.
WITH sales AS (
  SELECT
    commercial_order.*,
    greatest(commercial_order.payment_completed_at, commercial_order.control_transferred_at) AS recognized_at,
    commercial_order.ordered_gross_amount - commercial_order.cancelled_gross_amount AS sold_gross_amount,
    order_capture.order_lines,
    commercial_order.ordered_tax_amount - aggregate(
      order_capture.order_lines,
      CAST(0 AS DECIMAL(12, 2)),
      (tax, line) -> CAST(
        tax + round(line.line_tax_amount * line.cancelled_quantity / line.ordered_quantity, 2) AS DECIMAL(12, 2)
      )
    ) AS sold_tax_amount
  FROM commercial_order
  INNER JOIN order_capture ON order_capture.order_id = commercial_order.order_id
  WHERE commercial_order.financial_recognition_status IN ('recognized', 'reversed')
),

movements AS (
  SELECT
    *,
    CAST(IF(settlement_direction = 'refund', -1, 1) * settled_gross_amount AS DECIMAL(12, 2)) AS moved_amount
  FROM payment_settlement
  WHERE settlement_value_date IS NOT NULL
),

paid AS (
  SELECT
    sales.order_id,
    array_sort(collect_list(named_struct(
      'payment_id', movements.payment_id,
      'settlement_value_date', movements.settlement_value_date,
      'settled_gross_amount', movements.moved_amount
    ))) AS settlement_evidence
  FROM sales
  INNER JOIN movements ON movements.order_id = sales.order_id
  WHERE movements.refunded_return_id IS NULL AND movements.payment_settled_at <= sales.recognized_at
  GROUP BY sales.order_id
),

paid_back AS (
  SELECT
    order_id,
    refunded_return_id,
    max(payment_settled_at) AS paid_back_at,
    max_by(reporting_exchange_rate, struct(payment_settled_at, payment_id)) AS reporting_exchange_rate,
    array_sort(collect_list(named_struct(
      'payment_id', payment_id,
      'settlement_value_date', settlement_value_date,
      'settled_gross_amount', moved_amount
    ))) AS settlement_evidence
  FROM movements
  WHERE refunded_return_id IS NOT NULL
  GROUP BY order_id, refunded_return_id
),

came_back_lines AS (
  SELECT
    returns.order_id,
    returns.return_id,
    returns.returned_quantity,
    returns.refundable_line_gross_amount,
    get(filter(sales.order_lines, line -> line.order_line_number = returns.order_line_number), 0) AS sold_line
  FROM returns
  INNER JOIN sales ON sales.order_id = returns.order_id
),

came_back AS (
  SELECT
    order_id,
    return_id,
    sum(refundable_line_gross_amount) AS gross_amount,
    sum(
      CASE
        WHEN sold_line.line_gross_amount > 0
          THEN round(refundable_line_gross_amount * sold_line.line_tax_amount / sold_line.line_gross_amount, 2)
        ELSE 0
      END
    ) AS tax_amount,
    sum(returned_quantity) AS returned_quantity
  FROM came_back_lines
  GROUP BY order_id, return_id
),

entries AS (
  SELECT
    sales.order_id,
    'sale' AS recognition_movement,
    '' AS about,
    sales.recognized_at AS decided_at,
    sales.sold_gross_amount AS gross_amount,
    sales.sold_tax_amount AS tax_amount,
    sales.reporting_exchange_rate,
    sales.discount_amount,
    sales.dispatched_quantity AS pieces,
    paid.settlement_evidence,
    'REC-4.2' AS rule_reference
  FROM sales
  INNER JOIN paid ON paid.order_id = sales.order_id
  UNION ALL
  SELECT
    sales.order_id,
    'return_reversal' AS recognition_movement,
    came_back.return_id AS about,
    greatest(paid_back.paid_back_at, sales.recognized_at) AS decided_at,
    -came_back.gross_amount AS gross_amount,
    -came_back.tax_amount AS tax_amount,
    paid_back.reporting_exchange_rate,
    0 AS discount_amount,
    -came_back.returned_quantity AS pieces,
    paid_back.settlement_evidence,
    'REC-5.1' AS rule_reference
  FROM sales
  INNER JOIN came_back ON came_back.order_id = sales.order_id
  INNER JOIN paid_back
    ON paid_back.order_id = came_back.order_id AND paid_back.refunded_return_id = came_back.return_id
  UNION ALL
  SELECT
    sales.order_id,
    'chargeback_reversal' AS recognition_movement,
    movements.payment_id AS about,
    greatest(movements.payment_failed_at, sales.recognized_at) AS decided_at,
    -movements.moved_amount AS gross_amount,
    -round(movements.moved_amount * sales.sold_tax_amount / sales.sold_gross_amount, 2) AS tax_amount,
    movements.reporting_exchange_rate,
    0 AS discount_amount,
    CAST(NULL AS INT) AS pieces,
    array(named_struct(
      'payment_id', movements.payment_id,
      'settlement_value_date', movements.settlement_value_date,
      'settled_gross_amount', CAST(-movements.moved_amount AS DECIMAL(12, 2))
    )) AS settlement_evidence,
    'REC-5.3' AS rule_reference
  FROM sales
  INNER JOIN movements ON movements.order_id = sales.order_id
  WHERE movements.payment_settlement_state = 'called_back'
)

SELECT
  concat(
    'REV-',
    upper(substr(sha2(concat_ws('|', entries.order_id, entries.recognition_movement, entries.about), 256), 1, 16))
  ) AS recognition_entry_id,
  entries.order_id,
  CAST(
    row_number() OVER (
      PARTITION BY entries.order_id
      ORDER BY IF(entries.recognition_movement = 'sale', 0, 1), entries.decided_at, entries.about
    ) AS BIGINT
  ) AS recognition_sequence,
  entries.recognition_movement,
  IF(entries.recognition_movement = 'sale', 'recognized', 'reversed') AS financial_recognition_status,
  CAST(entries.decided_at AS DATE) AS recognized_on,
  date_format(entries.decided_at, 'yyyy-MM') AS accounting_period,
  sales.selling_country_code AS legal_entity_country_code,
  sales.sales_channel,
  IF(sales.sales_channel = 'marketplace', 'agent', 'principal') AS revenue_role,
  sales.marketplace_seller_id,
  CAST(entries.gross_amount - entries.tax_amount AS DECIMAL(12, 2)) AS net_sale_amount,
  CAST(entries.tax_amount AS DECIMAL(12, 2)) AS tax_amount,
  CAST(
    round((entries.gross_amount - entries.tax_amount) * entries.reporting_exchange_rate, 2) AS DECIMAL(12, 2)
  ) AS net_reporting_amount,
  CAST(round(entries.tax_amount * entries.reporting_exchange_rate, 2) AS DECIMAL(12, 2)) AS tax_reporting_amount,
  CAST(NULL AS MAP<STRING, DECIMAL(12, 2)>) AS tax_amount_by_jurisdiction,
  sales.order_currency_code AS transaction_currency_code,
  entries.reporting_exchange_rate,
  CAST(entries.discount_amount AS DECIMAL(12, 2)) AS promotional_discount_amount,
  CAST(entries.pieces AS INT) AS recognized_quantity,
  sales.control_transferred_at,
  entries.settlement_evidence,
  CASE
    WHEN entries.recognition_movement <> 'sale'
      THEN concat('REV-', upper(substr(sha2(concat_ws('|', entries.order_id, 'sale', ''), 256), 1, 16)))
  END AS reversed_entry_id,
  entries.rule_reference AS recognition_rule_reference,
  entries.decided_at AS reconciled_at
FROM entries
INNER JOIN sales ON sales.order_id = entries.order_id
