"""Treaty's own blocks: what ODCS has no place for, authored as plain keys, carried as custom properties."""

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
    """When and why a contract goes away, and what takes its place."""

    announced: str | None = None
    sunset_date: str | None = None
    replacement: str | None = None
    migration_guide: str | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class FieldMove:
    """How a field of the old line and one of the new line become one another; paths as they are printed."""

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
    """How consumers move across a breaking change."""

    guide: str
    window: str
    owner: str
    fields: tuple[FieldMove, ...] = ()


@dataclass(frozen=True, slots=True)
class ChangelogEntry:
    """What one version changed."""

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
    """Someone the contract is made for."""

    name: str
    purpose: str | None = None
    consumer_class: str | None = None


@dataclass(frozen=True, slots=True)
class Delivery:
    """How often a row or event may arrive."""

    guarantee: str
    channels: tuple[str, ...] = ()
    statement: str | None = None


@dataclass(frozen=True, slots=True)
class Ordering:
    """By which key and sequence events are ordered; without a key: explicitly none."""

    key: tuple[str, ...] = ()
    sequence: str | None = None
    statement: str | None = None

    @property
    def is_guaranteed(self) -> bool:
        """Whether there is an order to rely on."""
        return bool(self.key)


@dataclass(frozen=True, slots=True)
class Latency:
    """How soon consumers see what happened."""

    profile: str | None = None
    within: str | None = None
    percentile: float | None = None
    statement: str | None = None


@dataclass(frozen=True, slots=True)
class Event:
    """The event type and what its publisher observed or decided."""

    type: str
    meaning: str | None = None


@dataclass(frozen=True, slots=True)
class Upstream:
    """A contract or source that this one is made from."""

    contract: str | None = None
    source: str | None = None
    fields: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Exclusion:
    """Something the contract does not contain."""

    what: str
    why: str | None = None


@dataclass(frozen=True)
class Blocks:
    """All of Treaty's own blocks in one contract."""

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
    said = {key: item for key, item in value.items() if key not in ends}
    return FieldMove(before=value.get("from", both), after=value.get("to", both), **said)


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
    """Read Treaty's blocks among custom properties; one of another shape is somebody else's and left alone.

    What was a plain key of the document was looked at when that was read.
    """
    found: dict[str, Any] = {}
    for entry in custom_properties or ():
        name = entry.get("property")
        if not isinstance(name, str) or name not in block_names() or name in found:
            continue
        if name in plain_keys or fits_block(name, thaw(entry.get("value"))):
            value = entry["value"]
            found[name] = _READERS[name](value) if name in _READERS else value
    return build_frozen(Blocks, found)


def owners_alone(owners: Iterable[Mapping[str, Any]]) -> Blocks:
    """Return the blocks of a contract that says nothing but its owners in blocks."""
    return build_frozen(Blocks, {"owners": _owners(owners)})


def field_keys_in(custom_properties: Iterable[FrozenMap] | None) -> FrozenMap:
    """Read Treaty's own field keys among the custom properties of a field."""
    entries = ((entry.get("property"), entry.get("value")) for entry in custom_properties or ())
    return FrozenMap(
        {name: value for name, value in entries if isinstance(name, str) and fits_field_key(name, thaw(value))}
    )
