"""Rules that were prepared for the columns of a frame, kept for further frames with the same columns.

A process that enforces the same contracts again and again, such as `treaty run --follow`, prepares them once.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from threading import Lock

from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from treaty.contracts.model import Contract
from treaty.spark.compiled_rules import CompiledRules
from treaty.spark.input_layout import InputColumns
from treaty.spark.rules import Policy

MAX_PREPARED = 100


@dataclass(frozen=True)
class RuleKey:
    """What rules are prepared for; frames with equal keys are judged by the same columns."""

    session: SparkSession
    contract: Contract
    object_name: str
    policy: Policy
    columns: StructType
    carry: tuple[str, ...]
    references: frozenset[str]
    is_streaming: bool

    def matches(self, other: RuleKey) -> bool:
        """Tell whether rules that were prepared for one key hold for the other; contracts are compared by identity."""
        return (
            self.session is other.session
            and self.contract is other.contract
            and self.object_name == other.object_name
            and self.policy == other.policy
            and self.carry == other.carry
            and self.references == other.references
            and self.is_streaming == other.is_streaming
            and self.columns == other.columns
        )


@dataclass(frozen=True)
class PreparedRules:
    """The layout of the columns, and the rules compiled for it."""

    key: RuleKey
    layout: InputColumns
    compiled: CompiledRules


class RuleCache:
    """The rules that were prepared last, for all threads of a process."""

    def __init__(self, size: int = MAX_PREPARED) -> None:
        self._prepared: deque[PreparedRules] = deque(maxlen=size)
        self._lock = Lock()

    def find(self, key: RuleKey) -> PreparedRules | None:
        """Return rules that were prepared for such a key."""
        with self._lock:
            return next((prepared for prepared in self._prepared if prepared.key.matches(key)), None)

    def keep(self, key: RuleKey, layout: InputColumns, compiled: CompiledRules) -> None:
        """Keep rules for later; the oldest ones are dropped."""
        with self._lock:
            self._prepared.append(PreparedRules(key, layout, compiled))


PREPARED_RULES = RuleCache()
