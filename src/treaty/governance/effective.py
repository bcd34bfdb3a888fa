"""The effective contract: the terms of a contract and those that it inherits from policies, each with its origin."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from treaty.compatibility.changes import Direction
from treaty.compatibility.terms.quality_rules import quality_rules, rule_name
from treaty.compatibility.terms.service_levels import level_name
from treaty.contracts.model import Contract, Field, SchemaObject
from treaty.contracts.paths import FieldPath
from treaty.contracts.values import EMPTY, FrozenMap, thaw

INHERITED_BLOCKS = (
    *("ordering", "delivery", "latency", "change_policy", "content", "exclusions", "measures", "source_authority"),
)
"""Promises of the contract as a whole that children inherit; service levels and objects are inherited too."""

_WHOLE_BLOCKS = frozenset({"ordering", "content", "source_authority", "exclusions", "measures"})
"""Blocks that are inherited as a whole (exclusions and measures entry by entry); of the others, each key."""

_NOT_INHERITED_KEYS = frozenset({"statement"})
_FIELD_TERMS = ("required", "unique", "classification", "description", "business_name", "enum", "deprecated")
_FIELD_LISTS = ("quality", "relationships", "authoritative_definitions")
_FIELD_KEYS = ("unit", "semantic_type", "time_zone", "pii")


@dataclass(frozen=True, slots=True)
class EffectiveValue:
    """One value of an effective contract; `origin` is the policy that states it, or None for the contract itself."""

    path: str
    value: Any
    origin: str | None


@dataclass(frozen=True)
class EffectiveContract:
    """A contract with everything it inherits, and the origin of each inherited value by path."""

    contract: Contract
    own: Contract
    origins: Mapping[str, str]
    policies: tuple[Contract, ...] = ()

    @property
    def values(self) -> tuple[EffectiveValue, ...]:
        """The inheritable values of the contract with their origins: its promises first, then its fields."""
        listed = [*_promises(self.contract), *_field_values(self.contract)]
        values = [EffectiveValue(path, thaw(value), self._origin(path)) for path, value in listed]
        return (*values, *self._data_policies())

    def _data_policies(self) -> Iterator[EffectiveValue]:
        """Yield the parts of all data policies that bind the contract: they add up."""
        for stated in (self.own, *self.policies):
            policy = stated.treaty.data_policy
            origin = None if stated is self.own else f"{stated.id} {stated.version}"
            parts: list[tuple[str, Any]] = [(rule.path, rule) for rule in policy.rules] if policy else []
            parts += [("data_policy.purposes", ", ".join(policy.purposes))] if policy and policy.purposes else []
            parts += [("data_policy.residency", policy.residency)] if policy and policy.residency else []
            parts += [("data_policy.retention", policy.retention)] if policy and policy.retention else []
            yield from (EffectiveValue(path, str(value), origin) for path, value in parts)

    def _origin(self, path: str) -> str | None:
        """Return the origin of a value: its own, or that of the field that was inherited as a whole."""
        return self.origins.get(path) or self.origins.get(path.partition("#")[0])


def effective_contract(contract: Contract, policies: Sequence[Contract]) -> EffectiveContract:
    """Return a contract with what it does not state itself, from the nearest of its policies that does."""
    origins: dict[str, str] = {}
    result = contract
    for policy in policies:
        inherited: list[str] = []
        result = _inherit_levels(result, policy, inherited)
        for name in INHERITED_BLOCKS:
            result = _inherit_block(result, policy, name, inherited)
        result = _inherit_objects(result, policy, inherited)
        origins.update(dict.fromkeys(inherited, f"{policy.id} {policy.version}"))
    return EffectiveContract(result, contract, origins, tuple(policies))


def _inherit_levels(child: Contract, policy: Contract, inherited: list[str]) -> Contract:
    """Add the service levels that the child has for none of its elements."""
    own = {level_name({**level, "element": None}) for level in child.sla or ()}
    missing = [level for level in policy.sla or () if level_name({**level, "element": None}) not in own]
    if not missing:
        return child
    levels = [FrozenMap({key: value for key, value in level.items() if key != "element"}) for level in missing]
    inherited += [f"sla.{level_name(level)}" for level in levels]
    return replace(child, sla=(*(child.sla or ()), *levels))


def _inherit_block(child: Contract, policy: Contract, name: str, inherited: list[str]) -> Contract:
    """Add a block, or the keys of a block, that the child does not state."""
    stated, required = _block(child, name), _block(policy, name)
    if required is None:
        return child
    if stated is None:
        inherited += _block_paths(name, required)
        return _with_block(child, name, required)
    if name in _ENTRY_NAMES:
        name_of = _ENTRY_NAMES[name]
        known = {name_of(entry) for entry in stated}
        missing = [entry for entry in required if name_of(entry) not in known]
        inherited += _block_paths(name, missing)
        return _with_block(child, name, (*stated, *missing)) if missing else child
    if name in _WHOLE_BLOCKS or not isinstance(stated, Mapping) or not isinstance(required, Mapping):
        return child
    added = {key: value for key, value in required.items() if key not in stated and key not in _NOT_INHERITED_KEYS}
    inherited += [f"{name}.{key}" for key in added]
    return _with_block(child, name, FrozenMap({**stated, **added})) if added else child


def _block(contract: Contract, name: str) -> Any:
    """Return the value of a block as it is written, or None if the contract does not state it."""
    if getattr(contract.treaty, name) in (None, ()):
        return None
    entries = contract.custom_properties or ()
    return next(entry["value"] for entry in entries if entry.get("property") == name)


def _with_block(contract: Contract, name: str, value: Any) -> Contract:
    others = [entry for entry in contract.custom_properties or () if entry.get("property") != name]
    entry = FrozenMap({"property": name, "value": value})
    plain = contract.plain_keys if name in contract.plain_keys else (*contract.plain_keys, name)
    return replace(contract, custom_properties=(*others, entry), plain_keys=plain)


def _block_paths(name: str, value: Any) -> list[str]:
    if name in _ENTRY_NAMES:
        return [f"{name}.{_ENTRY_NAMES[name](entry)}" for entry in value]
    if name in _WHOLE_BLOCKS or not isinstance(value, Mapping):
        return [name]
    return [f"{name}.{key}" for key in value]


def _excluded(entry: Any) -> str:
    return entry if isinstance(entry, str) else str(entry["what"])


def _measured(entry: Any) -> str:
    return str(entry["name"])


_ENTRY_NAMES: dict[str, Callable[[Any], str]] = {"exclusions": _excluded, "measures": _measured}
"""Blocks that are inherited entry by entry, and the name of an entry."""


def _inherit_objects(child: Contract, policy: Contract, inherited: list[str]) -> Contract:
    """Give every object of the child the fields, rules and key that the policy requires."""
    if not policy.schema:
        return child
    held = child.schema or (SchemaObject(child.id),)
    several = len(held) > 1
    objects = tuple(
        _inherit_object(item, policy, FieldPath(object=item.name if several else None), inherited) for item in held
    )
    return child if objects == child.schema else replace(child, objects=objects)


def _inherit_object(item: SchemaObject, policy: Contract, root: FieldPath, inherited: list[str]) -> SchemaObject:
    required = required_object(policy, item)
    takes_key = not item.primary_key and policy_key(policy) is not None
    fields = _inherit_fields(item.fields, required.fields, root, inherited, takes_key=takes_key)
    prefix = f"{item.name}." if root.object is not None else ""
    quality = _missing_rules(required.quality or (), item.quality or ())
    relations = [entry for entry in required.relationships or () if entry not in (item.relationships or ())]
    inherited += [f"{prefix}quality.{rule_name(rule)}" for rule in quality]
    inherited += [f"{prefix}relationships" for _ in relations]
    return replace(
        item,
        properties=fields if fields or item.properties is not None else None,
        quality=(*(item.quality or ()), *quality) or item.quality,
        relationships=(*(item.relationships or ()), *relations) or item.relationships,
    )


def _inherit_fields(
    own: Sequence[Field], required: Sequence[Field], parent: FieldPath, inherited: list[str], *, takes_key: bool
) -> tuple[Field, ...]:
    """Return the fields with the terms that they do not state, followed by the fields that are missing."""
    wanted = {field.name: field if takes_key else _without_key(field) for field in required}
    merged = [
        _inherit_field(field, wanted[field.name], parent.field(field.name or ""), inherited)
        if field.name in wanted
        else field
        for field in own
    ]
    names = {field.name for field in own}
    missing = [replace(field, id=None) for name, field in wanted.items() if name not in names]
    inherited += [str(parent.field(field.name or "")) for field in missing]
    return (*merged, *missing)


def _without_key(field: Field) -> Field:
    """Return a field that is required as a key, but does not add to the key of an object that has its own."""
    if not field.primary_key:
        return field
    return replace(field, primary_key=None, primary_key_position=None, required=True)


def _inherit_field(field: Field, required: Field, path: FieldPath, inherited: list[str]) -> Field:
    changes: dict[str, Any] = {}
    for name in _FIELD_TERMS:
        if getattr(field, name) is None and getattr(required, name) is not None:
            changes[name] = getattr(required, name)
    if required.primary_key and field.primary_key is None:
        changes |= {"primary_key": True, "primary_key_position": required.primary_key_position}
    if field.logical_type is None and field.physical_type is None and required.type is not None:
        changes |= {"logical_type": required.logical_type, "physical_type": required.physical_type}
    options = _missing_options(field, required)
    if options:
        changes["options"] = FrozenMap({**(field.options or EMPTY), **options})
    inherited += [f"{path}#{_term_name(name)}" for name in changes if name not in ("options", "primary_key_position")]
    inherited += [f"{path}#{name}" for name in options]
    changes |= _inherit_lists(field, required, path, inherited)
    changes |= _inherit_keys(field, required, path, inherited)
    if required.properties and (field.properties or field.logical_type is None):
        properties = field.properties or ()
        changes["properties"] = _inherit_fields(properties, required.properties, path, inherited, takes_key=False)
    return replace(field, **changes) if changes else field


def _term_name(attribute: str) -> str:
    return {"logical_type": "type", "physical_type": "physical type", "primary_key": "primary key"}.get(
        attribute, attribute.replace("_", " ")
    )


def _missing_options(field: Field, required: Field) -> dict[str, Any]:
    """Return the limits on values that the field does not state, if it has the type that the policy requires."""
    same_type = field.logical_type in (None, required.logical_type)
    own = field.options or EMPTY
    return {key: value for key, value in (required.options or EMPTY).items() if key not in own} if same_type else {}


def _inherit_lists(field: Field, required: Field, path: FieldPath, inherited: list[str]) -> dict[str, Any]:
    """Return the lists of rules and references with the entries that the field lacks."""
    changes: dict[str, Any] = {}
    for name in _FIELD_LISTS:
        own, wanted = getattr(field, name) or (), getattr(required, name) or ()
        missing = _missing_rules(wanted, own) if name == "quality" else [one for one in wanted if one not in own]
        if missing:
            changes[name] = (*own, *missing)
            inherited.append(f"{path}#{name.replace('_', ' ')}")
    return changes


def _inherit_keys(field: Field, required: Field, path: FieldPath, inherited: list[str]) -> dict[str, Any]:
    """Return the custom properties with the keys of Treaty that the field does not state."""
    missing = [key for key in _FIELD_KEYS if key in required.treaty and key not in field.treaty]
    if not missing:
        return {}
    inherited += [f"{path}#{key}" for key in missing]
    entries = [FrozenMap({"property": key, "value": required.treaty[key]}) for key in missing]
    return {
        "custom_properties": (*(field.custom_properties or ()), *entries),
        "plain_keys": (*field.plain_keys, *missing),
    }


def _missing_rules(required: Sequence[FrozenMap], own: Sequence[FrozenMap]) -> list[FrozenMap]:
    """Return the quality rules that have no counterpart, which may be a stricter one."""
    removed = {
        difference.subject for difference in quality_rules(required, own) if difference.direction is Direction.REMOVED
    }
    return [rule for rule in required if rule_name(rule) in removed]


def required_object(policy: Contract, schema_object: SchemaObject) -> SchemaObject:
    """Return the object that a policy requires: the terms of all its objects, under the name of the child's object.

    If several objects of the policy have a field of the same name, the first one counts.
    """
    fields: dict[str | None, Field] = {}
    for field in (field for policy_object in policy.schema for field in policy_object.fields):
        fields.setdefault(field.name, field)
    return replace(
        schema_object,
        properties=tuple(fields.values()),
        quality=tuple(rule for policy_object in policy.schema for rule in policy_object.quality or ()),
        relationships=tuple(
            _about(schema_object, policy_object, rule)
            for policy_object in policy.schema
            for rule in policy_object.relationships or ()
        ),
    )


def _about(schema_object: SchemaObject, required: SchemaObject, reference: FrozenMap) -> FrozenMap:
    """Return a relationship of the policy's object as one of the child's object."""
    origin = reference.get("from")
    if origin is None:
        return reference
    prefix = f"{required.name}."
    named = [
        f"{schema_object.name}.{url.removeprefix(prefix)}" for url in ([origin] if isinstance(origin, str) else origin)
    ]
    return FrozenMap({**reference, "from": named[0] if isinstance(origin, str) else named})


def policy_key(policy: Contract) -> tuple[str, ...] | None:
    """Return the key that a policy requires: if its objects have different keys, none applies to every child."""
    keys = {policy_object.primary_key for policy_object in policy.schema if policy_object.primary_key}
    return keys.pop() if len(keys) == 1 else None


def _promises(contract: Contract) -> Iterator[tuple[str, Any]]:
    for level in contract.sla or ():
        amount = f"{level.get('value')} {level.get('unit') or ''}".strip()
        yield f"sla.{level_name(level)}", amount
    for name in INHERITED_BLOCKS:
        value = _block(contract, name)
        if value is None:
            continue
        paths = _block_paths(name, value)
        if name == "exclusions":
            yield from zip(paths, map(_excluded, value), strict=True)
        elif name == "measures":
            yield from zip(paths, map(str, contract.treaty.measures), strict=True)
        elif paths == [name]:
            yield name, value
        else:
            yield from ((path, value[path.partition(".")[2]]) for path in paths)


def _field_values(contract: Contract) -> Iterator[tuple[str, Any]]:
    several = len(contract.schema) > 1
    for item in contract.schema:
        prefix = f"{item.name}." if several else ""
        yield from ((f"{prefix}quality.{rule_name(rule)}", rule_name(rule)) for rule in item.quality or ())
        root = FieldPath(object=item.name if several else None)
        for field in item.fields:
            yield from _values_of(field, root.field(field.name or ""))


def _values_of(field: Field, path: FieldPath) -> Iterator[tuple[str, Any]]:
    yield f"{path}#type", str(field.type) if field.type else None
    if field.primary_key:
        yield f"{path}#primary key", True
    for name in ("required", "unique", "classification"):
        if getattr(field, name) is not None:
            yield f"{path}#{name}", getattr(field, name)
    if field.enum:
        yield f"{path}#enum", [entry["value"] for entry in field.enum]
    yield from ((f"{path}#{key}", field.treaty[key]) for key in _FIELD_KEYS if key in field.treaty)
    yield from ((f"{path}#{key}", value) for key, value in (field.options or EMPTY).items())
    for child in field.properties or ():
        yield from _values_of(child, path.field(child.name or ""))
