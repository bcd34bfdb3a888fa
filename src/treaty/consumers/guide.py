"""A guide as a value: what one consumer has to change to read the next line, and by when."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Any

from treaty.compatibility.migration import Fidelity
from treaty.consumers.impact import Effect
from treaty.consumers.subscriptions import Line, Subscription


@dataclass(frozen=True, slots=True)
class Example:
    """The same query before and after, in Spark SQL and in PySpark."""

    sql_before: str
    sql_after: str
    pyspark_before: str
    pyspark_after: str


@dataclass(frozen=True, slots=True)
class GuideField:
    """One field a consumer reads: what it was, what it is now, and what to do about it."""

    before: str
    type_before: str
    after: tuple[tuple[str, str], ...]
    todo: tuple[str, ...]
    changes: tuple[str, ...]
    fidelity: Fidelity
    reason: str | None
    sql: str

    @property
    def after_text(self) -> str:
        """What it is now, in a few words; a field that is gone is nothing."""
        return ", ".join(f"{name} {kind}" for name, kind in self.after) or "nothing"


@dataclass(frozen=True, slots=True)
class Guide:
    """What one consumer has to change, with its own fields only."""

    subscription: Subscription
    effect: Effect
    before: Line
    after: Line | None
    fields: tuple[GuideField, ...]
    unchanged: tuple[str, ...]
    not_there: tuple[str, ...]
    also: tuple[str, ...]
    examples: tuple[Example, ...]
    by: date | None
    window: str | None
    owner: str | None
    link: str | None

    @property
    def consumer(self) -> str:
        """Whom it is for."""
        return self.subscription.consumer

    def as_data(self) -> dict[str, Any]:
        """Return the guide as JSON would say it."""
        return {
            "consumer": self.consumer,
            "class": self.subscription.consumer_class.value,
            "contact": self.subscription.contact,
            "effect": self.effect.value,
            "fields_known": self.subscription.fields_known,
            "before": str(self.before),
            "after": str(self.after) if self.after else None,
            "by": self.by.isoformat() if self.by else None,
            "window": self.window,
            "owner": self.owner,
            "guide": self.link,
            "fields": [
                {
                    "before": one.before,
                    "type_before": one.type_before,
                    "after": [{"field": name, "type": kind} for name, kind in one.after],
                    "todo": list(one.todo),
                    "changes": list(one.changes),
                    "fidelity": one.fidelity.value,
                    "reason": one.reason,
                    "sql": one.sql,
                }
                for one in self.fields
            ],
            "unchanged": list(self.unchanged),
            "not_there": list(self.not_there),
            "also": list(self.also),
            "examples": [
                {
                    "sql": {"before": one.sql_before, "after": one.sql_after},
                    "pyspark": {"before": one.pyspark_before, "after": one.pyspark_after},
                }
                for one in self.examples
            ],
        }
