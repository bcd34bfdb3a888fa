"""What the parties say, side by side: as JSON for people, and as a digest that changes when any of it does.

It is written as SQL: a text is handed to Spark at once, where columns would be built in thousands of calls.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from treaty.contracts.sql_quoting import quote_identifier, quote_string
from treaty.spark.violations import MASKED_VALUE

_EXACT = {
    "ignoreNullFields": "false",
    "timeZone": "UTC",
    "timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX",
    "timestampNTZFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSS",
}
"""Every value in full, the same whatever the session's settings."""


def as_json(value: str) -> str:
    """Write a structure, given in SQL, as JSON with nothing left out or rounded."""
    options = ", ".join(f"{quote_string(name)}, {quote_string(said)}" for name, said in _EXACT.items())
    return f"to_json({value}, map({options}))"


def struct(parts: Mapping[str, str]) -> str:
    """Write a structure of expressions."""
    return f"named_struct({', '.join(f'{quote_string(name)}, {part}' for name, part in parts.items())})"


@dataclass(frozen=True)
class Repeated:
    """The columns in which the rows of a claim that may speak twice about a key are counted and summed up."""

    rows: str
    least: str
    content: str


@dataclass(frozen=True)
class Shown:
    """The columns of claims, by claim, and the attributes that a doubt is about."""

    claims: Mapping[str, tuple[str, ...]]
    attributes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Secrets:
    """The columns of claims, by claim, and the attributes whose values must not be shown."""

    claims: Mapping[str, Collection[str]]
    attributes: Collection[str]

    def touch(self, shown: Shown) -> bool:
        """Tell whether any of what is shown is secret."""
        return any(set(columns) & set(self.claims.get(claim, ())) for claim, columns in shown.claims.items()) or bool(
            set(shown.attributes) & set(self.attributes)
        )


_NONE = Secrets({}, ())


def evidence(shown: Shown, products: Mapping[str, str], secrets: Secrets) -> tuple[str, str]:
    """Return, in SQL, what the claims say as JSON with secrets masked, and the digest of all they say."""
    masked = _written(shown, products, secrets)
    whole = _written(shown, products, _NONE) if secrets.touch(shown) else masked
    return masked, f"sha2({whole}, 256)"


def _written(shown: Shown, products: Mapping[str, str], secrets: Secrets) -> str:
    claims = {}
    for claim, columns in shown.claims.items():
        values = _values(claim, columns, secrets.claims.get(claim, ()))
        says = f"CASE WHEN {quote_identifier(claim)} IS NOT NULL THEN {values} END"
        claims[claim] = struct({"product": quote_string(products[claim]), "values": says})
    attributes = {name: _value(quote_identifier(name), name in secrets.attributes) for name in shown.attributes}
    parts = {"claims": claims, "attributes": attributes}
    return as_json(struct({name: struct(part) for name, part in parts.items() if part}))


def _values(row: str, columns: Collection[str], hidden: Collection[str]) -> str:
    found = {
        column: _value(f"{quote_identifier(row)}.{quote_identifier(column)}", column in hidden) for column in columns
    }
    return struct(found) if found else "NULL"


def _value(value: str, hidden: bool) -> str:
    return f"CASE WHEN {value} IS NOT NULL THEN {quote_string(MASKED_VALUE)} END" if hidden else value


def repeated_evidence(
    claim: str, product: str, rows: Repeated, columns: tuple[str, ...], secrets: Secrets
) -> tuple[str, str]:
    """Return what a claim that speaks more than once says, how often, and the digest of all its rows in any order."""
    hidden = secrets.claims.get(claim, ())
    number, content = f"{quote_identifier(rows.rows)}", f"{quote_identifier(rows.content)}"
    said = {
        "product": quote_string(product),
        "rows": number,
        "values": _values(claim, columns, hidden),
        "other_values": _values(rows.least, columns, hidden),
    }
    whole = f"concat_ws(' ', {quote_string(claim)}, {quote_string(product)}, {number}, {content})"
    return as_json(struct({"claims": struct({claim: struct(said)})})), f"sha2({whole}, 256)"
