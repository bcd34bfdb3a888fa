"""Strategies for contract documents, one module for each part; `tests.strategies` is their door."""
