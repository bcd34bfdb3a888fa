"""Masks on Arrow arrays. The type of the result depends on the type and the mask only, never on the values."""

from __future__ import annotations

from binascii import hexlify
from collections.abc import Callable
from hashlib import sha256
from typing import Any, TypeAlias

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]

from treaty.contracts.data_policies import DEFAULT_TEXT, Granularity, Mask, MaskMethod
from treaty.errors import InvalidDocument
from treaty.policy.keys import FindKey, KeyRing
from treaty.policy.pseudonyms import canonical_text, hash_digests, hash_prefix, tokeniser

RANGE_LIMIT = 2**62
"""Numbers whose amount is as large as this have no range: the result is null, as it is for NaN."""


def mask_array(values: pa.Array, mask: Mask, find_key: FindKey, context: str = "") -> pa.Array:
    """Return masked values; a hash with a context cannot be matched with hashes of other contexts."""
    if mask.method is MaskMethod.NULL:
        return pa.nulls(len(values), values.type)
    if mask.method is MaskMethod.REDACT:
        return _redacted(values, DEFAULT_TEXT if mask.text is None else mask.text)
    if mask.method is MaskMethod.HASH:
        return _replaced(values, _hashes(find_key(mask.key or ""), context))
    if mask.method is MaskMethod.TOKENISE:
        return _replaced(values, _tokens(find_key(mask.key or "")))
    return _generalised(values, mask)


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _redacted(values: pa.Array, text: str) -> pa.Array:
    """Return the text for every value, null or not; values that are no texts become null."""
    if not _is_text(values.type):
        return pa.nulls(len(values), values.type)
    return pa.repeat(pa.scalar(text, values.type), len(values))


Replace: TypeAlias = Callable[[list[str | None]], pa.Array]
"""Returns texts in place of others; null stays null."""


def _replaced(values: pa.Array, replace: Replace) -> pa.Array:
    """Return texts computed once for each distinct value; null stays null."""
    if pa.types.is_nested(values.type):
        return replace([_canonical(value) for value in values.to_pylist()])
    encoded = values if pa.types.is_dictionary(values.type) else values.dictionary_encode()
    distinct = encoded.dictionary.to_pylist()
    texts = distinct if _is_text(encoded.dictionary.type) else [_canonical(value) for value in distinct]
    return replace(texts).take(encoded.indices)


def _canonical(value: Any) -> str | None:
    return None if value is None else canonical_text(value)


def _hashes(key: KeyRing, context: str) -> Replace:
    prefix, width = hash_prefix(key), 2 * sha256().digest_size

    def hash_texts(texts: list[str | None]) -> pa.Array:
        digests = hash_digests((b"" if text is None else text.encode() for text in texts), key, context)
        digits = pa.py_buffer(hexlify(b"".join(digests)))
        plain = pa.FixedSizeBinaryArray.from_buffers(pa.binary(width), len(texts), [None, digits])
        hashes = pc.binary_join_element_wise(prefix, plain.cast(pa.binary()).cast(pa.string()), "")
        missing = pa.array([text is None for text in texts], pa.bool_())
        return pc.if_else(missing, pa.scalar(None, pa.string()), hashes)

    return hash_texts


def _tokens(key: KeyRing) -> Replace:
    tokenise = tokeniser(key)
    return lambda texts: pa.array([None if text is None else tokenise(text) for text in texts], pa.string())


def _generalised(values: pa.Array, mask: Mask) -> pa.Array:
    kind = values.type
    if mask.to is Granularity.PREFIX and _is_text(kind):
        return pc.utf8_slice_codeunits(values, 0, mask.size or 0)
    if mask.to is Granularity.RANGE and (
        pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
    ):
        return _range_start(values, mask.size or 1)
    if mask.to in (Granularity.DAY, Granularity.MONTH, Granularity.YEAR) and pa.types.is_temporal(kind):
        if pa.types.is_timestamp(kind) and kind.tz is not None:
            utc = values.cast(pa.timestamp(kind.unit, "UTC"))
            return pc.floor_temporal(utc, unit=mask.to.value).cast(kind)
        if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
            return pc.floor_temporal(values, unit=mask.to.value).cast(kind)
    raise InvalidDocument(
        f"a value of the type {kind} cannot be generalised to {mask.to}; correct the type or the mask"
    )


def _range_start(values: pa.Array, width: int) -> pa.Array:
    """Return the first integer of the range of each number: ranges start at multiples of the width."""
    amounts = values.cast(pa.int64() if pa.types.is_integer(values.type) else pa.float64())
    limit = pa.scalar(RANGE_LIMIT, pa.int64()).cast(amounts.type, safe=False)
    in_limits = pc.and_(pc.less(amounts, limit), pc.greater(amounts, pc.negate(limit)))
    held = pc.if_else(in_limits, values, pa.scalar(None, values.type))
    floors = held if pa.types.is_integer(values.type) else pc.floor(held)
    whole = floors.cast(pa.int64())
    remainder = pc.subtract(whole, pc.multiply(pc.divide(whole, width), width))
    start = pc.subtract(whole, remainder)
    return pc.if_else(pc.less(remainder, 0), pc.subtract(start, width), start)
