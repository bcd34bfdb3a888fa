"""Parallel runs: a legacy feed compared with the publication that replaces it."""
