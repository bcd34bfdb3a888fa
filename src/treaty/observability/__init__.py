"""Observability: measures of contracts, compared with what the contracts promise."""

from treaty.observability.measures import Measure, State, evaluate_measure, worst

__all__ = ["Measure", "State", "evaluate_measure", "worst"]
