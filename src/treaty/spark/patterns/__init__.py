"""Patterns of a contract on Spark: exact, unable to stall a job, and as cheap as their shape allows."""

from treaty.spark.patterns.java import JavaPattern, java_pattern
from treaty.spark.patterns.matching import too_long, violates

__all__ = ["JavaPattern", "java_pattern", "too_long", "violates"]
