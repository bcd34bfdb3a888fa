"""Hypothesis settings for Spark: few examples, the same in every run and not shrunk, because each one costs a query."""

from __future__ import annotations

from hypothesis import HealthCheck, Phase, settings

FEW_EXAMPLES = settings(
    max_examples=3,
    derandomize=True,
    deadline=None,
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large],
)
