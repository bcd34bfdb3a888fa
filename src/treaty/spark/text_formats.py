"""Text formats that a contract may name, and their checks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pyspark.sql import Column
from pyspark.sql import functions as F

from treaty.spark.pattern_matching import violates

_LABEL = "[0-9A-Za-z]+(?:-+[0-9A-Za-z]+)*"
_HOST = rf"{_LABEL}(?:\.{_LABEL})*"
_LONG_LABEL = "[^.]{64}"
_MAX_HOST, _MAX_LABEL = 253, 63
_MAX_EMAIL, _MAX_LOCAL_PART = 254, 64

_OCTET = "(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
_IPV4 = rf"(?:{_OCTET}\.){{3}}{_OCTET}"
_GROUP = "[0-9A-Fa-f]{1,4}"
_IPV6 = "|".join(
    [
        f"(?:{_GROUP}:){{7}}{_GROUP}",
        *(f"(?:{_GROUP}:){{1,{before}}}(?::{_GROUP}){{1,{7 - before}}}" for before in range(1, 7)),
        f"(?:{_GROUP}:){{1,7}}:",
        f":(?:(?::{_GROUP}){{1,7}}|:)",
    ]
)
_BEFORE_IPV4 = "|".join(
    [
        f"(?:{_GROUP}:){{6}}",
        *(f"(?:{_GROUP}:){{1,{before}}}:(?:{_GROUP}:){{0,{5 - before}}}" for before in range(1, 6)),
        f"::(?:{_GROUP}:){{0,5}}",
    ]
)

_ATOM = r"[0-9A-Za-z!#$%&'*+/=?^_`{|}~-]+"
_LOCAL_PART = rf"{_ATOM}(?:\.{_ATOM})*"
_QUOTED = r'"(?:[ !#-\[\]-~]|\\[ -~])*"'

_NAME = r"0-9A-Za-z._~!$&'()*+,;=\-"
_ESCAPED = "%[0-9A-Fa-f]{2}"
_AUTHORITY = (
    rf"(?:(?:[{_NAME}:]|{_ESCAPED})*@)?(?:\[[0-9A-Fa-f:.]+\]|(?:[{_NAME}]|{_ESCAPED})*)(?::[0-9]*)?"
    rf"(?:/(?:[{_NAME}:@/]|{_ESCAPED})*)?"
)
_PATH = rf"/?(?:(?:[{_NAME}:@]|{_ESCAPED})(?:[{_NAME}:@/]|{_ESCAPED})*)?"
_URI = (
    rf"[A-Za-z][0-9A-Za-z+.-]*:(?://{_AUTHORITY}|{_PATH})"
    rf"(?:\?(?:[{_NAME}:@/?]|{_ESCAPED})*)?(?:#(?:[{_NAME}:@/?]|{_ESCAPED})*)?"
)

_DAY = (
    "(?:[0-9]{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)"
    "|02-(?:0[1-9]|1[0-9]|2[0-8]))"
    "|(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)-02-29)"
)
_CLOCK = r"(?:(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]|23:59:60)(?:\.[0-9]+)?"
_OFFSET = "(?:[Zz]|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])"
_HEX = "[0-9A-Fa-f]"


@dataclass(frozen=True, slots=True)
class Format:
    """The meaning of a format, and the condition under which a value violates it."""

    meaning: str
    broken: Callable[[Column], Column]


def _full_match(pattern: str) -> Callable[[Column], Column]:
    return lambda column: violates(column, f"^(?:{pattern})$")


def _hostname(column: Column) -> Column:
    return _full_match(_HOST)(column) | _long_host(column)


def _long_host(host: Column) -> Column:
    size = F.octet_length(host)
    long_label = (size > _MAX_LABEL) & ~violates(host, _LONG_LABEL)
    return host.isNotNull() & ((size > _MAX_HOST) | long_label)


def _email(column: Column) -> Column:
    unusual = column.startswith('"') | column.endswith("]")
    in_full = rf"(?:{_LOCAL_PART}|{_QUOTED})@(?:{_HOST}|\[{_IPV4}\])"
    host = F.substring_index(column, "@", -1)
    size = F.octet_length(column)
    local_part = size - F.octet_length(host) - 1
    long = (size > _MAX_EMAIL) | (local_part > _MAX_LOCAL_PART) | _long_host(host)
    broken = F.when(unusual, _full_match(in_full)(column)).otherwise(_full_match(f"{_LOCAL_PART}@{_HOST}")(column))
    return column.isNotNull() & (broken | ((size > _MAX_LABEL) & long))


def _ipv6(column: Column) -> Column:
    return F.when(column.contains("."), _full_match(f"(?:{_BEFORE_IPV4}){_IPV4}")(column)).otherwise(
        _full_match(_IPV6)(column)
    )


def _uri(column: Column) -> Column:
    bracketed = F.substring_index(F.substring_index(column, "]", 1), "[", -1)
    return _full_match(_URI)(column) | (column.isNotNull() & column.contains("[") & _ipv6(bracketed))


def _base64(column: Column) -> Column:
    return _full_match("[0-9A-Za-z+/]*={0,2}")(column) | (column.isNotNull() & (F.octet_length(column) % 4 != 0))


def _anything(_: Column) -> Column:
    return F.lit(False)


_URI_FORMAT = Format("an absolute URI (RFC 3986)", _uri)

FORMATS: Mapping[str, Format] = {
    "email": Format(
        "an address local-part@host (RFC 5321), the host by name or as an IPv4 address in brackets", _email
    ),
    "uuid": Format(
        "32 hexadecimal digits in the groups 8-4-4-4-12", _full_match(f"{_HEX}{{8}}(?:-{_HEX}{{4}}){{3}}-{_HEX}{{12}}")
    ),
    "uri": _URI_FORMAT,
    "url": _URI_FORMAT,
    "hostname": Format("labels of letters, digits and inner hyphens between dots (RFC 1123)", _hostname),
    "ipv4": Format("four numbers up to 255 without leading zeros", _full_match(_IPV4)),
    "ipv6": Format("an IPv6 address without a zone (RFC 4291)", _ipv6),
    "date": Format("a day of the calendar, yyyy-MM-dd (RFC 3339)", _full_match(_DAY)),
    "time": Format(
        "a time of day, HH:mm:ss (RFC 3339); fraction and offset may follow", _full_match(f"{_CLOCK}{_OFFSET}?")
    ),
    "date-time": Format("a day, T, a time and its offset (RFC 3339)", _full_match(f"{_DAY}[Tt]{_CLOCK}{_OFFSET}")),
    "byte": Format("base64 with padding (RFC 4648)", _base64),
    "binary": Format("any text; not checked", _anything),
    "password": Format("any text; not checked", _anything),
}
"""The formats of ODCS and JSON Schema that are checked or need no check."""
