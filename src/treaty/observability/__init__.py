"""What is observed of data and of those who move it: measures, and the promises they are held to."""

from treaty.observability.measures import Measure, State, evaluate_measure, worst

__all__ = ["Measure", "State", "evaluate_measure", "worst"]
