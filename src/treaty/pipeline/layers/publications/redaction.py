"""Redaction: the masks that a publication declares for its fields, for every reader and at any depth.

`redact:` is a shorthand for masks of the data policy: `hash`, `null`, or a text that stands for every value. Masks
without a key are written as SQL, so that tables and views use the same expressions.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import types as spark

from treaty.contracts.data_policies import Mask, MaskMethod
from treaty.contracts.paths import ITEMS, MAP_VALUES, Step, parse_path
from treaty.contracts.sql_quoting import quote_identifier
from treaty.errors import InvalidDocument
from treaty.pipeline.project.declarations import Publication, Redacted, Redaction
from treaty.policy import KeyRing
from treaty.policy.masked_parts import ITEM, MAP_KEY, MAP_VALUE, MaskedPart, Parts
from treaty.spark.masks import mask_columns, masked_sql
from treaty.spark.schema import find_struct_field

HASH_KEY = "hash"
"""The name of the key of hashes in publications."""


def redact(rows: DataFrame, publication: Publication, key: KeyRing | None) -> DataFrame:
    """Return the rows with all redactions of the publication applied.

    Hashes depend on the line and the table, so that those of two publications cannot be matched with each other.
    """
    columns = redacted_parts(rows.schema, publication)
    if not columns:
        return rows

    def find_key(name: str) -> KeyRing:
        if key is None:
            hashed = next(one.field for one in publication.redacted if one.how is Redaction.HASH)
            raise InvalidDocument(
                f"{publication.at}: {hashed} is to be hashed, but no secret is set, without which values "
                "could be guessed: set TREATY_HASH_SECRET"
            )
        return key

    return mask_columns(rows, columns, find_key, f"{publication.line} {publication.table}")


def redactions_sql(have: spark.StructType, publication: Publication) -> dict[str, str]:
    """Return the SQL expression of each redacted column; no redaction is a hash."""
    columns = redacted_parts(have, publication)
    return {name: masked_sql(quote_identifier(name), have[name].dataType, parts) for name, parts in columns.items()}


def redacted_parts(have: spark.StructType, publication: Publication) -> dict[str, Parts]:
    """Return the parts of each redacted column; parts that are not redacted are kept."""
    redactions: dict[str, list[_Redaction]] = {}
    for redacted in publication.redacted:
        first, *rest = _steps(redacted, publication)
        column = find_struct_field(have, first.text)
        if column is None or first.is_mark:
            raise _unknown(redacted, publication, first, have)
        redactions.setdefault(column.name, []).append((redacted, rest))
    return {name: _parts(have[name].dataType, pending, publication) for name, pending in redactions.items()}


_Redaction = tuple[Redacted, list[Step]]


def _parts(kind: spark.DataType, pending: list[_Redaction], publication: Publication) -> Parts:
    """Return the parts of a value; `pending` are the redactions inside it with the steps that are left to them."""
    whole = next((redacted for redacted, steps in pending if not steps), None)
    if whole is not None or not pending:
        return (MaskedPart((), None if whole is None else _mask(whole)),)
    if isinstance(kind, spark.ArrayType):
        return _behind(ITEM, kind.elementType, _without_mark(pending, ITEMS), publication)
    redacted, (step, *_) = pending[0]
    if isinstance(kind, spark.MapType) and (not step.is_mark or step.text == MAP_VALUES):
        values = _behind(MAP_VALUE, kind.valueType, _without_mark(pending, MAP_VALUES), publication)
        return (MaskedPart((MAP_KEY,), None), *values)
    if not isinstance(kind, spark.StructType):
        raise _unknown(redacted, publication, step, kind)
    inside: dict[str, list[_Redaction]] = {field.name: [] for field in kind.fields}
    for redacted, (step, *rest) in pending:
        field = None if step.is_mark else find_struct_field(kind, step.text)
        if field is None:
            raise _unknown(redacted, publication, step, kind)
        inside[field.name].append((redacted, rest))
    return tuple(
        part
        for field in kind.fields
        for part in _behind(Step(field.name), field.dataType, inside[field.name], publication)
    )


def _behind(step: Step, kind: spark.DataType, pending: list[_Redaction], publication: Publication) -> Parts:
    return tuple(MaskedPart((step, *part.steps), part.mask) for part in _parts(kind, pending, publication))


def _without_mark(pending: list[_Redaction], mark: str) -> list[_Redaction]:
    """Return the redactions behind a mark, which is optional."""
    return [
        (redacted, steps[1:] if steps[0].is_mark and steps[0].text == mark else steps) for redacted, steps in pending
    ]


def _mask(redacted: Redacted) -> Mask:
    if redacted.how is Redaction.HASH:
        return Mask(MaskMethod.HASH, key=HASH_KEY)
    if redacted.how is Redaction.NULL:
        return Mask(MaskMethod.NULL)
    return Mask(MaskMethod.REDACT, text=redacted.constant or "")


def _steps(redaction: Redacted, publication: Publication) -> tuple[Step, ...]:
    try:
        return parse_path(redaction.field).steps
    except InvalidDocument as error:
        raise InvalidDocument(f"{publication.at}: redact: {error}") from None


def _unknown(redaction: Redacted, publication: Publication, step: Step, kind: spark.DataType) -> InvalidDocument:
    names = kind.names if isinstance(kind, spark.StructType) else None
    available = f"it is in {kind.simpleString()}" if names is None else f"there are: {', '.join(names)}"
    return InvalidDocument(
        f"{publication.at}: {redaction.field} is to be redacted, but there is no {step.text!r}; {available}. "
        "Nothing is published without this redaction"
    )
