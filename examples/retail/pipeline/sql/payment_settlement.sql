-- A payment by its settlement and its latest failure; only a failure after the settlement takes the money back.
WITH settlements AS (
  SELECT
    *,
    row_number() OVER (
      PARTITION BY payment_id ORDER BY payment_event_sequence DESC, payment_settled_at DESC, event_id DESC
    ) AS place
  FROM payment_settled
),

failures AS (
  SELECT
    *,
    row_number() OVER (
      PARTITION BY payment_id ORDER BY payment_event_sequence DESC, payment_failed_at DESC, event_id DESC
    ) AS place,
    max(attempt_number) OVER (PARTITION BY payment_id) AS attempts
  FROM payment_failed
),

settled AS (
  SELECT * FROM settlements WHERE place = 1
),

failed AS (
  SELECT * FROM failures WHERE place = 1
)

SELECT
  coalesce(settled.payment_id, failed.payment_id) AS payment_id,
  coalesce(settled.order_id, failed.order_id) AS order_id,
  CASE
    WHEN failed.payment_failure_stage = 'after_settlement'
      AND failed.payment_event_sequence > coalesce(settled.payment_event_sequence, 0) THEN 'called_back'
    WHEN settled.payment_id IS NOT NULL THEN 'settled'
    WHEN failed.is_retry_scheduled THEN 'failed_retrying'
    ELSE 'failed_finally'
  END AS payment_settlement_state,
  coalesce(settled.settlement_direction, 'charge') AS settlement_direction,
  coalesce(settled.payment_method_family, failed.payment_method_family) AS payment_method_family,
  coalesce(settled.payment_provider_key, failed.payment_provider_key) AS payment_provider_key,
  coalesce(settled.settled_money.gross_amount, CAST(0 AS DECIMAL(12, 2))) AS settled_gross_amount,
  coalesce(settled.settled_money.acquirer_fee_amount, CAST(0 AS DECIMAL(12, 2))) AS acquirer_fee_amount,
  coalesce(settled.settled_money.currency_code, failed.attempted_money.currency_code) AS settlement_currency_code,
  settled.reporting_exchange_rate,
  CAST(
    round(settled.settled_money.gross_amount * settled.reporting_exchange_rate, 2) AS DECIMAL(12, 2)
  ) AS settled_reporting_amount,
  settled.payment_settled_at,
  settled.settlement_value_date,
  settled.settlement_batch_reference,
  settled.instalment_number,
  failed.payment_failed_at,
  failed.payment_failure_reason,
  CAST(greatest(settled.payment_event_sequence, failed.attempts) AS INT) AS attempt_count,
  settled.refunded_return_id,
  coalesce(settled.sales_channel, failed.sales_channel) AS sales_channel,
  coalesce(settled.selling_country_code, failed.selling_country_code) AS selling_country_code,
  greatest(settled.payment_event_sequence, failed.payment_event_sequence) AS last_payment_event_sequence
FROM settled
FULL OUTER JOIN failed ON settled.payment_id = failed.payment_id
