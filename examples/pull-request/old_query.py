"""The planner's query, as it always was, on the view that serves the old shape from the new data.

`python examples/pull-request/old_query.py VIEW.sql` runs on the shared Spark (`treaty spark up`), or starts one.
"""

from __future__ import annotations

import sys
from pathlib import Path

from treaty.cli.spark_session import command_session, spark_options
from treaty.spark.session_options import SparkOptions

OLD_QUERY = "SELECT delivery_city, count(*) AS parcels FROM shop_orders_v1.orders GROUP BY delivery_city ORDER BY ALL"
_NEW_ROWS = """
CREATE TABLE shop_orders_v2.orders USING parquet AS SELECT * FROM VALUES
  ('O-1', CAST(19.90 AS DECIMAL(12, 2)), 'Porto'), ('O-2', CAST(7.50 AS DECIMAL(12, 2)), 'Turku'),
  ('O-3', CAST(42.00 AS DECIMAL(12, 2)), 'Porto') AS orders(order_id, gross_total, ship_to_city)
"""


def main(view: Path) -> None:
    """Make a table of the new shape and the view, and print the query with its answer."""
    with command_session(spark_options(SparkOptions(), None, None)) as (spark, _):
        for line in ("shop_orders_v1", "shop_orders_v2"):
            spark.sql(f"CREATE DATABASE {line}")
        spark.sql(_NEW_ROWS)
        spark.sql(view.read_text())
        print(OLD_QUERY)
        spark.sql(OLD_QUERY).show()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
