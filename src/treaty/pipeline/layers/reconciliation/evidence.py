"""Evidence of an exception: the values of the claims as JSON, and a digest that changes when any of them does.

It is written as SQL text, which is passed to Spark at once; building the same columns would take thousands of calls.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from treaty.contracts.sql_quoting import quote_identifier, quote_string
from treaty.spark.violations import MASKED_VALUE

_LOSSLESS_JSON = {
    "ignoreNullFields": "false",
    "timeZone": "UTC",
    "timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX",
    "timestampNTZFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSS",
}
"""JSON options that lose nothing and do not depend on the settings of the session."""


def as_json(struct_sql: str) -> str:
    """Return SQL that turns a struct into JSON, with nothing left out or rounded."""
    options = ", ".join(f"{quote_string(name)}, {quote_string(value)}" for name, value in _LOSSLESS_JSON.items())
    return f"to_json({struct_sql}, map({options}))"


def struct(parts: Mapping[str, str]) -> str:
    """Return SQL for a struct of expressions."""
    return f"named_struct({', '.join(f'{quote_string(name)}, {part}' for name, part in parts.items())})"


@dataclass(frozen=True)
class RepeatedColumns:
    """The columns that summarize the rows of a claim that may have several rows for a key."""

    rows: str
    least: str
    content: str


@dataclass(frozen=True)
class EvidenceColumns:
    """The columns of claims, by claim, and the attributes that an exception is about."""

    claims: Mapping[str, tuple[str, ...]]
    attributes: tuple[str, ...] = ()


@dataclass(frozen=True)
class MaskedColumns:
    """The columns of claims, by claim, and the attributes whose values are masked."""

    claims: Mapping[str, Collection[str]]
    attributes: Collection[str]

    def overlap(self, shown: EvidenceColumns) -> bool:
        """Tell whether any column of the evidence is masked."""
        return any(set(columns) & set(self.claims.get(claim, ())) for claim, columns in shown.claims.items()) or bool(
            set(shown.attributes) & set(self.attributes)
        )


_NOTHING_MASKED = MaskedColumns({}, ())


def evidence(shown: EvidenceColumns, products: Mapping[str, str], masked: MaskedColumns) -> tuple[str, str]:
    """Return SQL for the claims as JSON with masked values, and for the digest of the unmasked claims."""
    masked_json = _claims_json(shown, products, masked)
    full_json = _claims_json(shown, products, _NOTHING_MASKED) if masked.overlap(shown) else masked_json
    return masked_json, f"sha2({full_json}, 256)"


def _claims_json(shown: EvidenceColumns, products: Mapping[str, str], masked: MaskedColumns) -> str:
    claims = {}
    for claim, columns in shown.claims.items():
        values = _values(claim, columns, masked.claims.get(claim, ()))
        values_or_null = f"CASE WHEN {quote_identifier(claim)} IS NOT NULL THEN {values} END"
        claims[claim] = struct({"product": quote_string(products[claim]), "values": values_or_null})
    attributes = {name: _value(quote_identifier(name), name in masked.attributes) for name in shown.attributes}
    parts = {"claims": claims, "attributes": attributes}
    return as_json(struct({name: struct(part) for name, part in parts.items() if part}))


def _values(row: str, columns: Collection[str], hidden: Collection[str]) -> str:
    values = {
        column: _value(f"{quote_identifier(row)}.{quote_identifier(column)}", column in hidden) for column in columns
    }
    return struct(values) if values else "NULL"


def _value(value: str, hidden: bool) -> str:
    return f"CASE WHEN {value} IS NOT NULL THEN {quote_string(MASKED_VALUE)} END" if hidden else value


def repeated_evidence(
    claim: str, product: str, rows: RepeatedColumns, columns: tuple[str, ...], masked: MaskedColumns
) -> tuple[str, str]:
    """Return SQL for two of the rows of a repeated claim with their number, and for the digest of all its rows."""
    hidden = masked.claims.get(claim, ())
    number, content = f"{quote_identifier(rows.rows)}", f"{quote_identifier(rows.content)}"
    summary = {
        "product": quote_string(product),
        "rows": number,
        "values": _values(claim, columns, hidden),
        "other_values": _values(rows.least, columns, hidden),
    }
    content_text = f"concat_ws(' ', {quote_string(claim)}, {quote_string(product)}, {number}, {content})"
    return as_json(struct({"claims": struct({claim: struct(summary)})})), f"sha2({content_text}, 256)"
