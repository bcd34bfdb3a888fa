"""How laws are tried on Spark: few examples, the same in every run, and none shrunk, since each costs a query."""

from __future__ import annotations

from hypothesis import HealthCheck, Phase, settings

LAWS = settings(
    max_examples=3,
    derandomize=True,
    deadline=None,
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large],
)
