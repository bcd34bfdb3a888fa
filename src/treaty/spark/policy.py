"""How a contract is enforced, where the contract leaves a choice."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from treaty.contracts.findings import Severity
from treaty.spark.rules import Duplicates, KeyReading, Scope, UnknownFields


@dataclass(frozen=True)
class Policy:
    """The choices of one run: `severity` weighs rules anew by id or kind, `order` says which row of a key is first."""

    duplicates: Duplicates = Duplicates.KEEP_NONE
    order: tuple[str, ...] = ()
    unknown_fields: UnknownFields | None = None
    severity: Mapping[str, Severity] = field(default_factory=dict)
    scope: Scope = Scope.ALL
    keys: KeyReading = KeyReading.WITH_ROWS
