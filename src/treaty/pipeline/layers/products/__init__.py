"""From events to products: one row for each key, with what is known of its delivery."""

from treaty.pipeline.layers.products.columns import Outcome, key_columns, product_columns
from treaty.pipeline.layers.products.rows import product_rows
from treaty.pipeline.layers.products.sequences import going_on

__all__ = ["Outcome", "going_on", "key_columns", "product_columns", "product_rows"]
