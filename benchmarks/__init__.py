"""Benchmarks: ratios against a floor and against peers, measured in one run."""
