"""Patterns of the text formats that a contract may name; each matches from start to end and is RE2 syntax."""

from __future__ import annotations

from collections.abc import Mapping

_LABEL = "[0-9A-Za-z]+(?:-+[0-9A-Za-z]+)*"
HOST = rf"{_LABEL}(?:\.{_LABEL})*"

_OCTET = "(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
IPV4 = rf"(?:{_OCTET}\.){{3}}{_OCTET}"
_GROUP = "[0-9A-Fa-f]{1,4}"
IPV6 = "|".join(
    [
        f"(?:{_GROUP}:){{7}}{_GROUP}",
        *(f"(?:{_GROUP}:){{1,{before}}}(?::{_GROUP}){{1,{7 - before}}}" for before in range(1, 7)),
        f"(?:{_GROUP}:){{1,7}}:",
        f":(?:(?::{_GROUP}){{1,7}}|:)",
    ]
)
BEFORE_IPV4 = "|".join(
    [
        f"(?:{_GROUP}:){{6}}",
        *(f"(?:{_GROUP}:){{1,{before}}}:(?:{_GROUP}:){{0,{5 - before}}}" for before in range(1, 6)),
        f"::(?:{_GROUP}:){{0,5}}",
    ]
)

_ATOM = r"[0-9A-Za-z!#$%&'*+/=?^_`{|}~-]+"
LOCAL_PART = rf"{_ATOM}(?:\.{_ATOM})*"
QUOTED = r'"(?:[ !#-\[\]-~]|\\[ -~])*"'

_NAME = r"0-9A-Za-z._~!$&'()*+,;=\-"
_ESCAPED = "%[0-9A-Fa-f]{2}"
_AUTHORITY = (
    rf"(?:(?:[{_NAME}:]|{_ESCAPED})*@)?(?:\[[0-9A-Fa-f:.]+\]|(?:[{_NAME}]|{_ESCAPED})*)(?::[0-9]*)?"
    rf"(?:/(?:[{_NAME}:@/]|{_ESCAPED})*)?"
)
_PATH = rf"/?(?:(?:[{_NAME}:@]|{_ESCAPED})(?:[{_NAME}:@/]|{_ESCAPED})*)?"
URI = (
    rf"[A-Za-z][0-9A-Za-z+.-]*:(?://{_AUTHORITY}|{_PATH})"
    rf"(?:\?(?:[{_NAME}:@/?]|{_ESCAPED})*)?(?:#(?:[{_NAME}:@/?]|{_ESCAPED})*)?"
)

DAY = (
    "(?:[0-9]{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)"
    "|02-(?:0[1-9]|1[0-9]|2[0-8]))"
    "|(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)-02-29)"
)
CLOCK = r"(?:(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]|23:59:60)(?:\.[0-9]+)?"
OFFSET = "(?:[Zz]|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])"
HEX = "[0-9A-Fa-f]"
BASE64 = "(?:[0-9A-Za-z+/]{4})*(?:[0-9A-Za-z+/]{2}==|[0-9A-Za-z+/]{3}=)?"
UUID = f"{HEX}{{8}}(?:-{HEX}{{4}}){{3}}-{HEX}{{12}}"

PATTERNS: Mapping[str, str] = {
    "email": rf"(?:{LOCAL_PART}|{QUOTED})@(?:{HOST}|\[{IPV4}\])",
    "uuid": UUID,
    "uri": URI,
    "url": URI,
    "hostname": HOST,
    "ipv4": IPV4,
    "ipv6": f"(?:{IPV6}|(?:{BEFORE_IPV4}){IPV4})",
    "date": DAY,
    "time": f"{CLOCK}{OFFSET}?",
    "date-time": f"{DAY}[Tt]{CLOCK}{OFFSET}",
    "byte": BASE64,
}
"""The pattern of each format, without anchors."""
UNCHECKED_FORMATS = frozenset({"binary", "password"})
"""Formats that allow any text."""
