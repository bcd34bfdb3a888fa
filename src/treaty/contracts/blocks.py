"""Treaty's extensions to ODCS: written as top-level keys, exported as custom properties."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from treaty.contracts.data_policies import DataPolicy, parse_data_policy
from treaty.contracts.event_lifecycles import Lifecycle, parse_lifecycle
from treaty.contracts.frozen import build_frozen
from treaty.contracts.owners import Owner
from treaty.contracts.requirements import Requirement, parse_requirement
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
    """The changes of one version; `editorial` is the statement of `owner` that it only rewords an event's meaning."""

    version: str
    changes: tuple[str, ...]
    date: str | None = None
    editorial: bool = False
    owner: str | None = None


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
    """A contract or source that this contract is derived from; all paths are texts.

    `mappings` names the upstream fields that each field is computed from, `fields` those that are used otherwise.
    """

    contract: str | None = None
    source: str | None = None
    fields: tuple[str, ...] = ()
    mappings: FrozenMap = EMPTY


@dataclass(frozen=True, slots=True)
class Exclusion:
    """Something that the contract deliberately does not contain."""

    what: str
    why: str | None = None


@dataclass(frozen=True, slots=True)
class Audience:
    """Who may read a contract that is not open to everyone: its owners, these teams, and the teams of these domains."""

    teams: tuple[str, ...] = ()
    domains: tuple[str, ...] = ()

    @property
    def names(self) -> frozenset[str]:
        """The teams and domains, each with its kind."""
        return frozenset((*(f"team {name}" for name in self.teams), *(f"domain {name}" for name in self.domains)))

    def __str__(self) -> str:
        return ", ".join(sorted(self.names)) or "private"


@dataclass(frozen=True, slots=True)
class Target:
    """The value that a measure must not exceed (`at_most`) or fall below (`at_least`); one of them is set."""

    at_most: float | None = None
    at_least: float | None = None

    def __str__(self) -> str:
        return f"at most {self.at_most:g}" if self.at_most is not None else f"at least {self.at_least:g}"


@dataclass(frozen=True, slots=True)
class SemanticMeasure:
    """A number that says what the data means for the business: by an SQL expression, or by a quality rule."""

    name: str
    meaning: str | None = None
    expression: str | None = None
    rule: str | None = None
    object: str | None = None
    unit: str | None = None
    target: Target | None = None
    owner: str | None = None

    @property
    def sql(self) -> str | None:
        """The expression without blanks that mean nothing in SQL."""
        return None if self.expression is None else " ".join(self.expression.split())

    def __str__(self) -> str:
        target = f"{self.target} {self.unit or ''}".rstrip() if self.target else "no target"
        return f"{target}: rule {self.rule}" if self.rule else f"{target}: {self.sql}"


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
    sharing: str | None = None
    parent: str | None = None
    effective_from: str | None = None
    require: tuple[Requirement, ...] = ()
    expires: str | None = None
    exclusions: tuple[Exclusion, ...] = ()
    measures: tuple[SemanticMeasure, ...] = ()
    content: str | None = None
    event: Event | None = None
    lifecycle: Lifecycle | None = None
    source_authority: str | None = None
    lineage: tuple[Upstream, ...] = ()
    visibility: Audience | None = None
    """None if everyone who may read the registry may read the contract."""
    data_policy: DataPolicy | None = None


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


def _measure(value: Mapping[str, Any]) -> SemanticMeasure:
    target = value.get("target")
    return SemanticMeasure(**{**value, "target": None if target is None else Target(**target)})


def _audience(value: Any) -> Audience:
    return Audience() if value == "private" else Audience(**value)


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
    "measures": lambda value: tuple(map(_measure, value)),
    "event": lambda value: Event(**value),
    "lifecycle": parse_lifecycle,
    "require": lambda value: tuple(map(parse_requirement, value)),
    "lineage": lambda value: tuple(Upstream(**item) for item in value),
    "visibility": _audience,
    "data_policy": parse_data_policy,
}


EDGE = "edge"
"""The scope of a contract for single consumers, which needs an expiry."""


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
    if blocks.get("tier") == EDGE:  # older documents state the scope of sharing as a tier
        blocks |= {"tier": "product", "sharing": blocks.get("sharing", EDGE)}
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
