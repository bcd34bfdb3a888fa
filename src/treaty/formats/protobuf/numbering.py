"""Field numbers: the stable ids that Protobuf knows its fields by."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from treaty.contracts.model import Field
from treaty.formats.naming import is_identifier

_HIGHEST = 536_870_911
_OF_PROTOBUF = range(19_000, 20_000)


def numbered(fields: Sequence[Field], reserved: object) -> dict[int, int]:
    """Return the number of each field by its place: its id where that is a number, else the lowest that is free."""
    free = _reserved_numbers(reserved)
    found: dict[int, int] = {}
    for place, field in enumerate(fields):
        number = int(field.id) if field.id and field.id.isascii() and field.id.isdigit() else 0
        if _is_usable(number) and number not in found.values() and not _is_in(number, free):
            found[place] = number
    taken = set(found.values())
    number = 0
    for place in range(len(fields)):
        if place not in found:
            number += 1
            while number in taken or not _is_usable(number) or _is_in(number, free):
                number += 1
            found[place] = number
    return found


def reserved_line(reserved: object, numbers: Iterable[int]) -> list[str]:
    """Return the lines that keep numbers and names free."""
    taken = set(numbers)
    listed = [text for text in reserved if isinstance(text, str)] if isinstance(reserved, tuple) else []
    ranges = [text for text in listed if (span := _span(text)) and not any(span[0] <= one <= span[1] for one in taken)]
    names = [f'"{text}"' for text in listed if is_identifier(text) and _span(text) is None]
    return [f"reserved {', '.join(part)};" for part in (ranges, names) if part]


def _is_usable(number: int) -> bool:
    return 1 <= number <= _HIGHEST and number not in _OF_PROTOBUF


def _is_in(number: int, spans: list[tuple[int, int]]) -> bool:
    return any(low <= number <= high for low, high in spans)


def _reserved_numbers(reserved: object) -> list[tuple[int, int]]:
    listed = reserved if isinstance(reserved, tuple) else ()
    return [span for text in listed if isinstance(text, str) and (span := _span(text))]


def _span(text: str) -> tuple[int, int] | None:
    """Read `7` or `9 to 11` or `100 to max`."""
    low, _, high = (part.strip() for part in text.partition(" to "))
    high = str(_HIGHEST) if high == "max" else high or low
    if not (low.isascii() and low.isdigit() and high.isascii() and high.isdigit()):
        return None
    return (int(low), int(high)) if 1 <= int(low) <= int(high) <= _HIGHEST else None
