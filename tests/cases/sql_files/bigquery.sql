CREATE SCHEMA IF NOT EXISTS shop OPTIONS (location = 'EU');
CREATE TABLE IF NOT EXISTS `my-project.shop.orders`
(
  order_id INT64 NOT NULL OPTIONS(description="The key"),
  total NUMERIC(10, 2),
  big BIGNUMERIC,
  placed_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP(),
  local_at DATETIME,
  tags ARRAY<STRING>,
  lines ARRAY<STRUCT<sku STRING NOT NULL, qty INT64>>,
  address STRUCT<street STRING OPTIONS(description='Street'), city STRING>,
  doc JSON,
  loc GEOGRAPHY,
  raw BYTES(16),
  code STRING(10),
  PRIMARY KEY (order_id) NOT ENFORCED,
  FOREIGN KEY (code) REFERENCES shop.codes(code) NOT ENFORCED
)
PARTITION BY DATE(placed_at)
CLUSTER BY code, order_id
OPTIONS(description="Orders of the shop", labels=[("team","checkout")], partition_expiration_days=90);
CREATE OR REPLACE TABLE shop.codes (code STRING(10) NOT NULL, PRIMARY KEY (code) NOT ENFORCED);
