"""From events to products: one row for each key, with what is known of its delivery."""

from treaty.pipeline.layers.products.late_events import going_on
from treaty.pipeline.layers.products.product_rows import build_product
from treaty.pipeline.layers.products.product_table import Outcome, key_columns, product_columns

__all__ = ["Outcome", "going_on", "key_columns", "product_columns", "build_product"]
