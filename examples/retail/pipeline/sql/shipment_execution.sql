-- A shipment as it was last announced, with its boxes counted and weighed together.
WITH announced AS (
  SELECT
    *,
    row_number() OVER (PARTITION BY shipment_id ORDER BY shipment_dispatched_at DESC, event_id DESC) AS place
  FROM shipment_dispatched
)

SELECT
  shipment_id,
  order_id,
  shipment_sequence_in_order,
  shipment_dispatched_at,
  dispatch_site,
  shipment_destination.destination_country_code AS destination_country_code,
  shipment_destination.postal_area_prefix AS postal_area_prefix,
  carrier_key,
  carrier_service_level,
  carrier_tracking_number,
  estimated_arrival_date,
  shipped_lines,
  coalesce(size(shipment_parcels), 0) AS parcel_count,
  CASE
    WHEN size(shipment_parcels) > 0 THEN aggregate(
      shipment_parcels,
      CAST(0 AS DECIMAL(10, 3)),
      (weight, parcel) -> CAST(weight + parcel.parcel_gross_weight AS DECIMAL(10, 3))
    )
  END AS shipment_gross_weight,
  is_final_shipment
FROM announced
WHERE place = 1
