"""The header that Kafka serializers write before a value: a magic byte, the id of the schema, for Protobuf the message.

The header has no I/O and no schema: readers resolve the id, writers pass the one that a registration returned.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

MAGIC_BYTE = 0
ID_END = 5
"""The magic byte and four bytes of the id, most significant byte first."""
MAX_MESSAGE_DEPTH = 64
"""Messages nested more deeply are refused; a corrupt count could otherwise claim any number of indexes."""
_FIRST_MESSAGE = (0,)
_MAX_VARINT_BYTES = 10


class HeaderProblem(StrEnum):
    """Why a value has no header."""

    EMPTY_VALUE = "empty_value"
    WRONG_MAGIC_BYTE = "wrong_magic_byte"
    TRUNCATED_HEADER = "truncated_header"


class InvalidHeader(ValueError):
    """A value does not begin with a header."""

    def __init__(self, problem: HeaderProblem, message: str) -> None:
        super().__init__(message)
        self.problem = problem


@dataclass(frozen=True)
class WireHeader:
    """A header: the id of the writer's schema, the Protobuf message by its indexes, and where the value begins."""

    schema_id: int
    size: int
    message_indexes: tuple[int, ...] = ()


def encode_header(schema_id: int, message_indexes: tuple[int, ...] | None = None) -> bytes:
    """Return the header of a value; Protobuf values need the indexes of their message, outermost first."""
    if not 0 <= schema_id < 1 << 32:
        raise ValueError(f"{schema_id} is not the id of a schema")
    header = bytes([MAGIC_BYTE]) + schema_id.to_bytes(4, "big")
    if message_indexes is None:
        return header
    if message_indexes == _FIRST_MESSAGE:  # the short form of the most frequent case
        return header + b"\x00"
    return header + b"".join(_encode_varint(number) for number in (len(message_indexes), *message_indexes))


def decode_header(value: bytes, *, has_message_indexes: bool = False) -> WireHeader:
    """Read the header of a value; raise InvalidHeader if it has none. Only Protobuf values have message indexes."""
    if not value:
        raise InvalidHeader(HeaderProblem.EMPTY_VALUE, "the value is empty")
    if value[0] != MAGIC_BYTE:
        raise InvalidHeader(
            HeaderProblem.WRONG_MAGIC_BYTE, f"the value begins with the byte 0x{value[0]:02x}, not 0x00"
        )
    if len(value) < ID_END:
        raise InvalidHeader(HeaderProblem.TRUNCATED_HEADER, f"the value has {len(value)} bytes, fewer than a header")
    schema_id = int.from_bytes(value[1:ID_END], "big")
    if not has_message_indexes:
        return WireHeader(schema_id, ID_END)
    count, position = _decode_varint(value, ID_END)
    if count == 0:
        return WireHeader(schema_id, position, _FIRST_MESSAGE)
    if not 0 < count <= MAX_MESSAGE_DEPTH:
        raise InvalidHeader(HeaderProblem.TRUNCATED_HEADER, f"the header claims {count} message indexes")
    indexes: list[int] = []
    for _ in range(count):
        index, position = _decode_varint(value, position)
        indexes.append(index)
    return WireHeader(schema_id, position, tuple(indexes))


def _encode_varint(number: int) -> bytes:
    """Encode a number as Avro and Kafka do: zigzag, seven bits a byte, least significant first."""
    rest = number << 1 if number >= 0 else (-number << 1) - 1
    encoded = bytearray()
    while rest > 0x7F:
        encoded.append(rest & 0x7F | 0x80)
        rest >>= 7
    encoded.append(rest)
    return bytes(encoded)


def _decode_varint(value: bytes, position: int) -> tuple[int, int]:
    """Return a number and the position after it."""
    number = 0
    for shift, byte in enumerate(value[position : position + _MAX_VARINT_BYTES]):
        number |= (byte & 0x7F) << 7 * shift
        if byte < 0x80:  # the highest bit says that more bytes follow
            return number >> 1 ^ -(number & 1), position + shift + 1
    raise InvalidHeader(HeaderProblem.TRUNCATED_HEADER, "the value ends within the message indexes of its header")
