"""Checks of texts: patterns, without a regular expression where possible, and the formats that a contract may name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pyspark.sql import Column
from pyspark.sql import functions as F

from treaty.contracts.text_formats import (
    BEFORE_IPV4,
    CLOCK,
    DAY,
    HOST,
    IPV4,
    IPV6,
    LOCAL_PART,
    OFFSET,
    QUOTED,
    URI,
    UUID,
)
from treaty.regex.character_sets import ASCII
from treaty.regex.simplification import Anchors, list_texts, split_anchors
from treaty.regex.translation import JavaPattern, JavaWriter, simplified_tree, translate
from treaty.regex.tree import NEVER, CharacterClass, Node, Repetition, matches_empty
from treaty.spark.columns import all_of, any_of

_LONG_LABEL = "[^.]{64}"
_MAX_HOST, _MAX_LABEL = 253, 63
_MAX_EMAIL, _MAX_LOCAL_PART = 254, 64


@dataclass(frozen=True, slots=True)
class Format:
    """The meaning of a format, and the condition under which a value violates it."""

    meaning: str
    violated: Callable[[Column], Column]


def _full_match(pattern: str) -> Callable[[Column], Column]:
    return lambda column: violates(column, f"^(?:{pattern})$")


def _hostname(column: Column) -> Column:
    return _full_match(HOST)(column) | _long_host(column)


def _long_host(host: Column) -> Column:
    size = F.octet_length(host)
    long_label = (size > _MAX_LABEL) & ~violates(host, _LONG_LABEL)
    return host.isNotNull() & ((size > _MAX_HOST) | long_label)


def _email(column: Column) -> Column:
    unusual = column.startswith('"') | column.endswith("]")
    in_full = rf"(?:{LOCAL_PART}|{QUOTED})@(?:{HOST}|\[{IPV4}\])"
    host = F.substring_index(column, "@", -1)
    size = F.octet_length(column)
    local_part = size - F.octet_length(host) - 1
    long = (size > _MAX_EMAIL) | (local_part > _MAX_LOCAL_PART) | _long_host(host)
    violated = F.when(unusual, _full_match(in_full)(column)).otherwise(_full_match(f"{LOCAL_PART}@{HOST}")(column))
    return column.isNotNull() & (violated | ((size > _MAX_LABEL) & long))


def _ipv6(column: Column) -> Column:
    return F.when(column.contains("."), _full_match(f"(?:{BEFORE_IPV4}){IPV4}")(column)).otherwise(
        _full_match(IPV6)(column)
    )


def _uri(column: Column) -> Column:
    bracketed = F.substring_index(F.substring_index(column, "]", 1), "[", -1)
    return _full_match(URI)(column) | (column.isNotNull() & column.contains("[") & _ipv6(bracketed))


def _base64(column: Column) -> Column:
    return _full_match("[0-9A-Za-z+/]*={0,2}")(column) | (column.isNotNull() & (F.octet_length(column) % 4 != 0))


def _anything(_: Column) -> Column:
    return F.lit(False)


_URI_FORMAT = Format("an absolute URI (RFC 3986)", _uri)

FORMATS: Mapping[str, Format] = {
    "email": Format(
        "an address local-part@host (RFC 5321), the host by name or as an IPv4 address in brackets", _email
    ),
    "uuid": Format("32 hexadecimal digits in the groups 8-4-4-4-12", _full_match(UUID)),
    "uri": _URI_FORMAT,
    "url": _URI_FORMAT,
    "hostname": Format("labels of letters, digits and inner hyphens between dots (RFC 1123)", _hostname),
    "ipv4": Format("four numbers up to 255 without leading zeros", _full_match(IPV4)),
    "ipv6": Format("an IPv6 address without a zone (RFC 4291)", _ipv6),
    "date": Format("a day of the calendar, yyyy-MM-dd (RFC 3339)", _full_match(DAY)),
    "time": Format(
        "a time of day, HH:mm:ss (RFC 3339); fraction and offset may follow", _full_match(f"{CLOCK}{OFFSET}?")
    ),
    "date-time": Format("a day, T, a time and its offset (RFC 3339)", _full_match(f"{DAY}[Tt]{CLOCK}{OFFSET}")),
    "byte": Format("base64 with padding (RFC 4648)", _base64),
    "binary": Format("any text; not checked", _anything),
    "password": Format("any text; not checked", _anything),
}
"""The formats of ODCS and JSON Schema that are checked or need no check."""


_MAX_BYTES_PER_CHARACTER = 4
"""Bytes that one UTF-8 character takes at most."""


def violates(column: Column, pattern: str) -> Column:
    """Return a column that is true for values that do not match the pattern or are too long; null values pass."""
    matches = matches_by_shape(column, simplified_tree(pattern))
    if matches is None:
        matches = _matches(column, translate(pattern))
    return column.isNotNull() & ~matches


def too_long(column: Column, pattern: str) -> Column:
    """Return a column that is true for values too long to be matched with the pattern."""
    if matches_by_shape(column, simplified_tree(pattern)) is not None:
        return F.lit(False)
    java = translate(pattern)
    if java.longest_match is not None and java.longest_match <= java.max_length:
        return F.lit(False)
    return column.isNotNull() & ~_is_at_most(column, java.max_length)


def _matches(column: Column, java: JavaPattern) -> Column:
    if java.longest_match is not None and java.longest_match * _MAX_BYTES_PER_CHARACTER <= java.max_length:
        fits = F.octet_length(column) <= java.longest_match * _MAX_BYTES_PER_CHARACTER
    else:
        fits = _is_at_most(column, java.max_length)
    # Spark evaluates a branch of `when` only after its condition; it does not promise that for `and`.
    return F.coalesce(F.when(fits, column.rlike(java.text)), F.lit(False))


def _is_at_most(column: Column, longest: int) -> Column:
    return (F.octet_length(column) <= longest) | (F.length(column) <= longest)


_MAX_TEXTS = 4
_MAX_EXCLUDED_CHARACTERS = 5


def matches_by_shape(column: Column, tree: Node) -> Column | None:
    """Return a column that is true for matching values, if no general regular expression is needed; else None."""
    anchors = split_anchors(tree)
    return next((found for shape in _SHAPES if (found := shape(column, anchors)) is not None), None)


def _all_or_none(_: Column, anchors: Anchors) -> Column | None:
    if anchors.middle == NEVER:
        return F.lit(False)
    everything = matches_empty(anchors.middle) and not (anchors.at_start and anchors.at_end)
    return F.lit(True) if everything else None


def _one_of_texts(column: Column, anchors: Anchors) -> Column | None:
    texts = list_texts(anchors.middle) if anchors.at_start and anchors.at_end else None
    return column.isin(*texts) if texts else None


def _contains_text(column: Column, anchors: Anchors) -> Column | None:
    if anchors.at_start and anchors.at_end:
        return None
    texts = list_texts(anchors.middle)
    if not texts or len(texts) > _MAX_TEXTS:
        return None
    holds = column.startswith if anchors.at_start else column.endswith if anchors.at_end else column.contains
    return any_of([holds(text) for text in texts])


def _repeated_class(column: Column, anchors: Anchors) -> Column | None:
    """Match a repeated character class: no other character occurs, and the length is within the anchors."""
    node = anchors.middle if isinstance(anchors.middle, Repetition) else Repetition(anchors.middle, 1, 1)
    if not (anchors.at_start and anchors.at_end and isinstance(node.part, CharacterClass)):
        return None
    others = ~node.part.among
    is_length_ok = _length_within(column, node)
    if len(others) > _MAX_EXCLUDED_CHARACTERS:
        has_others = column.rlike(JavaWriter(frozenset(), is_search=True).text(CharacterClass(others)))
    else:
        has_others = any_of([column.contains(character) for character in others])
    return is_length_ok & ~has_others


def _length_within(column: Column, node: Repetition) -> Column:
    size = F.octet_length(column)
    ascii_only = isinstance(node.part, CharacterClass) and node.part.among.within(ASCII)
    anchors = []
    if node.least > 0:
        enough = size >= node.least
        anchors.append(enough if ascii_only or node.least == 1 else enough & (F.length(column) >= node.least))
    if node.most is not None:
        few = size <= node.most
        anchors.append(
            few
            if ascii_only
            else few | ((size <= node.most * _MAX_BYTES_PER_CHARACTER) & (F.length(column) <= node.most))
        )
    return all_of(anchors)


_SHAPES: tuple[Callable[[Column, Anchors], Column | None], ...] = (
    _all_or_none,
    _one_of_texts,
    _contains_text,
    _repeated_class,
)
