"""Guesses about a consumer that nobody has described yet: its class, with a confidence and what it follows from."""

from __future__ import annotations

import re
from dataclasses import dataclass

from treaty.consumers.subscriptions import ConsumerClass


@dataclass(frozen=True, slots=True)
class ClassGuess:
    """The likely class of a consumer."""

    consumer_class: ConsumerClass
    confidence: float
    """From 0 to 1."""
    reason: str


@dataclass(frozen=True, slots=True)
class _Hint:
    words: frozenset[str]
    consumer_class: ConsumerClass
    confidence: float


def _hint(words: str, consumer_class: ConsumerClass, confidence: float) -> _Hint:
    return _Hint(frozenset(words.split()), consumer_class, confidence)


_HINTS = (
    _hint(
        "regulatory regulator audit tax vat filing ledger close closing statutory compliance sox gdpr partner partners "
        "export feed outbound marketplace",
        ConsumerClass.EXTERNAL_REGULATORY,
        0.8,
    ),
    _hint(
        "fraud score scoring pricing price risk credit recommend recommender model predict prediction ml alerting "
        "decision",
        ConsumerClass.DECISION_AUTOMATION,
        0.75,
    ),
    _hint(
        "service sync api orchestrator orchestration fulfilment fulfillment dispatch trigger webhook picking",
        ConsumerClass.SERVICE_ORCHESTRATION,
        0.7,
    ),
    _hint(
        "report reports reporting dashboard kpi daily weekly monthly finance support operations board mart",
        ConsumerClass.OPERATIONAL_REPORTING,
        0.6,
    ),
    _hint(
        "adhoc explore exploration analysis analyst sandbox scratch notebook tmp test",
        ConsumerClass.EXPLORATORY_ANALYTICS,
        0.6,
    ),
)
"""Words in the name of a consumer, the most demanding class first."""

_BY_KIND = {
    "notebook": (ConsumerClass.EXPLORATORY_ANALYTICS, 0.6, "it is a notebook"),
    "query log": (ConsumerClass.EXPLORATORY_ANALYTICS, 0.4, "it sends queries by hand or from a tool"),
    "airflow": (ConsumerClass.OPERATIONAL_REPORTING, 0.5, "it is a scheduled job"),
    "dbt": (ConsumerClass.OPERATIONAL_REPORTING, 0.4, "it is a dbt model"),
}
_EXPOSURES = {
    "dashboard": ConsumerClass.OPERATIONAL_REPORTING,
    "notebook": ConsumerClass.EXPLORATORY_ANALYTICS,
    "analysis": ConsumerClass.EXPLORATORY_ANALYTICS,
    "ml": ConsumerClass.DECISION_AUTOMATION,
    "application": ConsumerClass.SERVICE_ORCHESTRATION,
}
_WORD = re.compile(r"[a-z]+")


LATENCY_CONFIDENCE = {"airflow": 0.9, "query log": 0.6}
"""How sure the latency is: the schedule of a job, or the time between queries."""

DECISION_CONFIDENCE = {"dbt": 0.7, "airflow": 0.6}
"""How sure it is that a description tells what a consumer is for, by where it was found."""

DEFAULT_CONFIDENCE = 0.5


def guess_class(consumer: str, kind: str, exposure: str | None = None) -> ClassGuess:
    """Guess the class of a consumer by the type of its dbt exposure, the words of its name, or where it was found."""
    if exposure in _EXPOSURES:
        return ClassGuess(_EXPOSURES[exposure], 0.85, f"its dbt exposure has the type {exposure}")
    words = _WORD.findall(consumer.lower())
    for hint in _HINTS:
        word = next((word for word in words if word in hint.words), None)
        if word is not None:
            return ClassGuess(hint.consumer_class, hint.confidence, f"its name contains {word!r}")
    consumer_class, confidence, reason = _BY_KIND.get(
        kind, (ConsumerClass.EXPLORATORY_ANALYTICS, 0.2, "its purpose is unknown")
    )
    return ClassGuess(consumer_class, confidence, reason)
