"""From events to products: one row for each key, with counts of late and missing events."""

from treaty.pipeline.layers.products.late_events import sequences_across_keys
from treaty.pipeline.layers.products.product_rows import build_product
from treaty.pipeline.layers.products.product_table import Outcome, key_columns, product_columns

__all__ = ["Outcome", "sequences_across_keys", "key_columns", "product_columns", "build_product"]
