"""Treaty's extensions to ODCS: written as top-level keys, exported as custom properties."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from treaty.contracts.frozen import build_frozen
from treaty.contracts.owners import Owner
from treaty.contracts.schemas import block_names, fits_block, fits_field_key
from treaty.contracts.values import EMPTY, FrozenMap, thaw


@dataclass(frozen=True, slots=True)
class Deprecation:
    """When and why a contract is retired, and its replacement."""

    announced: str | None = None
    sunset_date: str | None = None
    replacement: str | None = None
    migration_guide: str | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class FieldMove:
    """How a field of the old line maps to a field of the new line, and back; paths are texts."""

    before: str | None = None
    after: str | None = None
    values: FrozenMap = EMPTY
    sql: str | None = None
    default: Any = None
    back: str | None = None
    back_default: Any = None
    exact: bool = False
    note: str | None = None


@dataclass(frozen=True, slots=True)
class Migration:
    """The plan that moves consumers across a breaking change."""

    guide: str
    window: str
    owner: str
    fields: tuple[FieldMove, ...] = ()


@dataclass(frozen=True, slots=True)
class ChangelogEntry:
    """The changes of one version."""

    version: str
    changes: tuple[str, ...]
    date: str | None = None


@dataclass(frozen=True, slots=True)
class ChangePolicy:
    """How a contract may change."""

    compatibility: str | None = None
    notice: str | None = None
    statement: str | None = None


@dataclass(frozen=True, slots=True)
class IntendedConsumer:
    """A consumer that the contract is intended for."""

    name: str
    purpose: str | None = None
    consumer_class: str | None = None


@dataclass(frozen=True, slots=True)
class Delivery:
    """The delivery guarantee and channels."""

    guarantee: str
    channels: tuple[str, ...] = ()
    statement: str | None = None


@dataclass(frozen=True, slots=True)
class Ordering:
    """The key and sequence by which events are ordered; without a key, there is no guaranteed order."""

    key: tuple[str, ...] = ()
    sequence: str | None = None
    statement: str | None = None

    @property
    def is_guaranteed(self) -> bool:
        """Whether the contract guarantees an order."""
        return bool(self.key)


@dataclass(frozen=True, slots=True)
class Latency:
    """The latency profile."""

    profile: str | None = None
    within: str | None = None
    percentile: float | None = None
    statement: str | None = None


@dataclass(frozen=True, slots=True)
class Event:
    """The event type, and what the publisher observed or decided."""

    type: str
    meaning: str | None = None


@dataclass(frozen=True, slots=True)
class Upstream:
    """A contract or source that this contract is derived from."""

    contract: str | None = None
    source: str | None = None
    fields: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Exclusion:
    """Something that the contract deliberately does not contain."""

    what: str
    why: str | None = None


@dataclass(frozen=True)
class Blocks:
    """All extension blocks of one contract."""

    owners: tuple[Owner, ...] | None = None
    deprecation: Deprecation | None = None
    migration: Migration | None = None
    changelog: tuple[ChangelogEntry, ...] = ()
    change_policy: ChangePolicy | None = None
    intended_consumers: tuple[IntendedConsumer, ...] = ()
    delivery: Delivery | None = None
    ordering: Ordering | None = None
    latency: Latency | None = None
    tier: str | None = None
    parent: str | None = None
    expires: str | None = None
    exclusions: tuple[Exclusion, ...] = ()
    content: str | None = None
    event: Event | None = None
    source_authority: str | None = None
    lineage: tuple[Upstream, ...] = ()


def _consumer(value: Mapping[str, Any]) -> IntendedConsumer:
    return IntendedConsumer(value["name"], value.get("purpose"), value.get("class"))


def _ordering(value: Any) -> Ordering:
    return Ordering() if value == "none" else Ordering(**value)


def _migration(value: Mapping[str, Any]) -> Migration:
    moves = tuple(map(_field_move, value.get("fields", ())))
    return Migration(value["guide"], value["window"], value["owner"], moves)


def _field_move(value: Mapping[str, Any]) -> FieldMove:
    ends = ("field", "from", "to")
    both = value.get("field")
    options = {key: item for key, item in value.items() if key not in ends}
    return FieldMove(before=value.get("from", both), after=value.get("to", both), **options)


def _exclusion(value: Any) -> Exclusion:
    return Exclusion(value) if isinstance(value, str) else Exclusion(**value)


def _owners(value: Iterable[Mapping[str, Any]]) -> tuple[Owner, ...]:
    return tuple([Owner(item["team"], item.get("contact")) for item in value])


_READERS: dict[str, Any] = {
    "owners": _owners,
    "deprecation": lambda value: Deprecation(**value),
    "migration": _migration,
    "changelog": lambda value: tuple(ChangelogEntry(**item) for item in value),
    "change_policy": lambda value: ChangePolicy(**value),
    "intended_consumers": lambda value: tuple(map(_consumer, value)),
    "delivery": lambda value: Delivery(**value),
    "ordering": _ordering,
    "latency": lambda value: Latency(**value),
    "exclusions": lambda value: tuple(map(_exclusion, value)),
    "event": lambda value: Event(**value),
    "lineage": lambda value: tuple(Upstream(**item) for item in value),
}


def blocks_in(custom_properties: Iterable[FrozenMap] | None, plain_keys: tuple[str, ...] = ()) -> Blocks:
    """Read the extension blocks among custom properties; entries that do not match the schema of a block are ignored.

    Blocks that were plain keys of the document are already validated.
    """
    blocks: dict[str, Any] = {}
    for entry in custom_properties or ():
        name = entry.get("property")
        if not isinstance(name, str) or name not in block_names() or name in blocks:
            continue
        if name in plain_keys or fits_block(name, thaw(entry.get("value"))):
            value = entry["value"]
            blocks[name] = _READERS[name](value) if name in _READERS else value
    return build_frozen(Blocks, blocks)


def owners_alone(owners: Iterable[Mapping[str, Any]]) -> Blocks:
    """Return the blocks of a contract whose only block is its owners."""
    return build_frozen(Blocks, {"owners": _owners(owners)})


def field_keys_in(custom_properties: Iterable[FrozenMap] | None) -> FrozenMap:
    """Read Treaty's field keys among the custom properties of a field."""
    entries = ((entry.get("property"), entry.get("value")) for entry in custom_properties or ())
    return FrozenMap(
        {name: value for name, value in entries if isinstance(name, str) and fits_field_key(name, thaw(value))}
    )
