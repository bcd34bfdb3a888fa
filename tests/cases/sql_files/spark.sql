CREATE DATABASE IF NOT EXISTS sales;
CREATE EXTERNAL TABLE IF NOT EXISTS sales.orders (
  order_id BIGINT COMMENT 'The key',
  total DECIMAL(10,2),
  lines ARRAY<STRUCT<sku: STRING COMMENT 'Article', qty: INT>>,
  attrs MAP<STRING, STRING>,
  placed_at TIMESTAMP NOT NULL
)
COMMENT 'Orders'
PARTITIONED BY (day DATE COMMENT 'Day')
ROW FORMAT SERDE 'org.apache.hadoop.hive.ql.io.parquet.serde.ParquetHiveSerDe'
STORED AS PARQUET
LOCATION 's3://bucket/orders'
TBLPROPERTIES ('parquet.compression'='SNAPPY');
CREATE TABLE sales.lines (id BIGINT GENERATED ALWAYS AS IDENTITY, sku STRING, CONSTRAINT pk PRIMARY KEY (id)) USING DELTA CLUSTER BY (sku) TBLPROPERTIES (delta.enableChangeDataFeed = true);
MSCK REPAIR TABLE sales.orders;
OPTIMIZE sales.lines ZORDER BY (sku);
