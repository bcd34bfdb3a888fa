"""The data policy of a contract: the values that a `data_policy` block is parsed into."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from treaty.contracts.values import EMPTY, FrozenMap

PERSONAL = "pii"
"""The classification of every field with `pii: true`, whatever else it is classified as."""

DEFAULT_TEXT = "***"
"""The text of a redacted value, unless the rule states another."""

ANYWHERE = "*"
"""Among the regions that rows may be served in: every region."""


class MaskMethod(StrEnum):
    """How a value is masked, from the weakest method to the strictest."""

    GENERALISE = "generalise"
    TOKENISE = "tokenise"
    HASH = "hash"
    REDACT = "redact"
    NULL = "null"

    @property
    def needs_key(self) -> bool:
        """Whether masking needs a secret key."""
        return self in (MaskMethod.HASH, MaskMethod.TOKENISE)


class Granularity(StrEnum):
    """What a generalised value keeps: the period of a date, the range of a number, the first characters of a text."""

    DAY = "day"
    MONTH = "month"
    YEAR = "year"
    RANGE = "range"
    PREFIX = "prefix"


@dataclass(frozen=True, slots=True)
class Mask:
    """How the values of a field are masked; `size` is the width of a range or the length of a prefix."""

    method: MaskMethod
    text: str | None = None
    key: str | None = None
    role: str | None = None
    """Who may turn tokens back into values."""
    to: Granularity | None = None
    size: int | None = None

    def __str__(self) -> str:
        detail = {
            MaskMethod.REDACT: "" if self.text in (None, DEFAULT_TEXT) else f" as {self.text!r}",
            MaskMethod.HASH: f" with the key {self.key}",
            MaskMethod.TOKENISE: f" with the key {self.key}" + (f", reversible for {self.role}" if self.role else ""),
            MaskMethod.GENERALISE: f" to {self.to}" + (f" of {self.size}" if self.size is not None else ""),
        }
        return f"{self.method}{detail.get(self.method, '')}"


@dataclass(frozen=True, slots=True)
class MaskRule:
    """A mask for the fields of a classification, or for one field; `clear_for` are purposes that see clear values."""

    mask: Mask
    classification: str | None = None
    field: str | None = None
    clear_for: tuple[str, ...] = ()

    @property
    def path(self) -> str:
        """The rule in the block, such as ``data_policy.classifications.restricted``."""
        return (
            f"data_policy.fields.{self.field}"
            if self.field is not None
            else f"data_policy.classifications.{self.classification}"
        )

    def __str__(self) -> str:
        return f"{self.mask}, clear for {', '.join(self.clear_for)}" if self.clear_for else str(self.mask)


@dataclass(frozen=True, slots=True)
class Residency:
    """The column that holds the region of a row, and the regions in which rows of each region may be served."""

    column: str
    serve: FrozenMap

    def __str__(self) -> str:
        regions = "; ".join(f"{region} in {', '.join(self.serve[region])}" for region in sorted(self.serve))
        return f"by {self.column}: {regions}"


@dataclass(frozen=True, slots=True)
class RowRetention:
    """Rows are served for a limited time after the time in a column."""

    column: str
    at_most: str

    def __str__(self) -> str:
        return f"{self.at_most} by {self.column}"


@dataclass(frozen=True, slots=True)
class DataPolicy:
    """What consumers may read: masks, purposes, regions and age; without `purposes`, every purpose is allowed."""

    rules: tuple[MaskRule, ...] = ()
    purposes: tuple[str, ...] | None = None
    residency: Residency | None = None
    retention: RowRetention | None = None


def parse_data_policy(block: Mapping[str, Any]) -> DataPolicy:
    """Return the policy of a valid block."""
    rules = [
        *(replace(_rule(value), classification=name) for name, value in block.get("classifications", EMPTY).items()),
        *(replace(_rule(value), field=path) for path, value in block.get("fields", EMPTY).items()),
    ]
    residency, retention = block.get("residency"), block.get("retention")
    return DataPolicy(
        tuple(rules),
        block.get("purposes"),
        None if residency is None else Residency(residency["column"], residency["serve"]),
        None if retention is None else RowRetention(retention["column"], retention["at_most"]),
    )


def _rule(value: Any) -> MaskRule:
    entry = value if isinstance(value, Mapping) else {"mask": value}
    method = MaskMethod(entry["mask"] or MaskMethod.NULL)  # YAML reads null as None
    to = entry.get("to")
    mask = Mask(
        method,
        text=entry.get("text", DEFAULT_TEXT) if method is MaskMethod.REDACT else None,
        key=entry.get("key"),
        role=entry.get("role"),
        to=None if to is None else Granularity(to),
        size=entry.get("width", entry.get("length")),
    )
    return MaskRule(mask, clear_for=tuple(entry.get("clear_for", ())))
