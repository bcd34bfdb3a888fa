-- What payment settlement claims, over all payments of an order: money in, money back, and what was taken twice.
WITH movements AS (
  SELECT
    *,
    settlement_direction = 'charge' AND payment_settlement_state = 'settled' AS is_charge,
    settlement_direction = 'refund' AND payment_settlement_state = 'settled' AS is_refund,
    settlement_direction = 'charge' AND payment_settlement_state IN ('settled', 'called_back') AS once_came,
    row_number() OVER (
      PARTITION BY
        order_id, settlement_direction, payment_settlement_state, payment_method_family, payment_provider_key,
        settlement_currency_code, settled_gross_amount, instalment_number
      ORDER BY payment_settled_at, payment_id
    ) AS copy
  FROM payment_settlement
),

in_order AS (
  SELECT
    *,
    sum(CASE WHEN once_came THEN settled_gross_amount ELSE 0 END) OVER (
      PARTITION BY order_id ORDER BY payment_settled_at NULLS FIRST, payment_id ROWS UNBOUNDED PRECEDING
    ) AS charged_so_far
  FROM movements
)

SELECT
  order_id,
  min(sales_channel) AS sales_channel,
  min(selling_country_code) AS selling_country_code,
  min(settlement_currency_code) AS settlement_currency_code,
  CAST(sum(CASE WHEN is_charge THEN settled_gross_amount ELSE 0 END) AS DECIMAL(12, 2)) AS charged_gross_amount,
  CAST(sum(CASE WHEN is_refund THEN settled_gross_amount ELSE 0 END) AS DECIMAL(12, 2)) AS refunded_gross_amount,
  CAST(
    sum(CASE WHEN is_charge AND copy > 1 THEN settled_gross_amount ELSE 0 END) AS DECIMAL(12, 2)
  ) AS duplicated_gross_amount,
  bool_or(payment_settlement_state = 'called_back') AS is_called_back,
  bool_or(payment_settlement_state = 'failed_retrying') AS is_retrying,
  max(instalment_number) AS latest_instalment_number,
  min_by(reporting_exchange_rate, struct(payment_settled_at, payment_id))
    FILTER (WHERE once_came) AS reporting_exchange_rate,
  min(payment_settled_at) FILTER (WHERE once_came) AS first_charged_at,
  array_sort(
    collect_list(named_struct('settled_at', payment_settled_at, 'charged_so_far', charged_so_far))
      FILTER (WHERE once_came)
  ) AS charges,
  array_sort(collect_set(refunded_return_id) FILTER (WHERE is_refund)) AS refunded_return_ids,
  sum(last_payment_event_sequence) AS events,
  max(greatest(payment_settled_at, payment_failed_at)) AS latest_at
FROM in_order
GROUP BY order_id
