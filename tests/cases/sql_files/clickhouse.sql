CREATE TABLE events (id UInt64, name LowCardinality(String), at DateTime64(3), tags Array(String), v Nullable(Float64)) ENGINE = MergeTree ORDER BY (id, at) PARTITION BY toYYYYMM(at);
