"""The diff: finds every term that differs between two contracts, once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace
from itertools import permutations

from treaty.compatibility.changes import Change, Changes, Direction
from treaty.compatibility.kinds import fields as field_kinds
from treaty.compatibility.kinds import kind_for
from treaty.compatibility.kinds import objects as object_kinds
from treaty.compatibility.kinds.meaning import classify_meaning, classify_wording
from treaty.compatibility.kinds.objects import object_renamed
from treaty.compatibility.pairing import pair
from treaty.compatibility.terms import CONTRACT_TERMS, FIELD_TERMS, OBJECT_TERMS, Term
from treaty.contracts.foreign import AVRO_DEFAULT_KEY
from treaty.contracts.model import Contract, Field, Form, SchemaObject, key_position
from treaty.contracts.paths import FieldPath
from treaty.contracts.versions import UNVERSIONED

_ATTRIBUTES = tuple(one.name for one in fields(Field))


def diff(before: Contract, after: Contract) -> Changes:
    """Return every change between two contracts; the order does not depend on the documents."""
    found = (*_contract_changes(before, after), *_object_changes(before, after))
    changes = [classify_meaning(change) for change in found]
    changes.sort(key=lambda change: change.sort_key)
    return Changes(before, after, tuple(changes))


def diff_files(before: Sequence[Contract], after: Sequence[Contract], name: str) -> Changes:
    """Return every change between all contracts of two schema files, as one contract called `name`.

    Contracts are paired by id, their objects as in `diff`: a table or message that is missing is a removed object.
    """
    old, new = combine_contracts(before, name), combine_contracts(after, name)
    later = {contract.id: contract for contract in after}
    changes = list(diff(old, new))
    for contract in before:
        if contract.id in later:
            found = _contract_changes(contract, later[contract.id])
            changes += [replace(change, subject=f"{contract.id}.{change.subject}") for change in found]
    changes.sort(key=lambda change: change.sort_key)
    return Changes(old, new, tuple(changes))


def combine_contracts(contracts: Sequence[Contract], name: str) -> Contract:
    """Return one contract with the objects of all; a name that is not unique is prefixed with the contract id."""
    names = Counter(item.name for contract in contracts for item in contract.schema)
    objects = tuple(
        item if names[item.name] == 1 else replace(item, name=f"{contract.id}.{item.name}")
        for contract in contracts
        for item in contract.schema
    )
    versions = {contract.version for contract in contracts}
    version = versions.pop() if len(versions) == 1 else UNVERSIONED
    return Contract(name, version, contracts[0].api_version, objects=objects, form=Form.SCHEMA)


def _contract_changes(before: Contract, after: Contract) -> Iterator[Change]:
    for term in CONTRACT_TERMS:
        for change in _term_changes(term, before, after, default_subject=term.name.rpartition(".")[2]):
            yield classify_wording(change, before, after)


def _object_changes(before: Contract, after: Contract) -> Iterator[Change]:
    pairs = pair(before.schema, after.schema)
    several = len(before.schema) > 1 or len(after.schema) > 1
    for removed in pairs.removed:
        yield Change(object_kinds.object_removed.id, Direction.REMOVED, removed.name, None, subject=removed.name)
    for new in pairs.added:
        yield Change(object_kinds.object_added.id, Direction.ADDED, None, new.name, subject=new.name)
    for old, new in pairs.both:
        if old == new:
            continue
        root = FieldPath(object=old.name if several else None)
        yield from object_changes(old, new, root)


def object_changes(old: SchemaObject, new: SchemaObject, root: FieldPath) -> Iterator[Change]:
    """Yield the changes between two paired objects: their terms, keys and fields."""
    if old.name != new.name:
        yield Change(object_kinds.object_renamed.id, Direction.REPLACED, old.name, new.name, subject=old.name)
    prefix = f"{old.name}." if root.object is not None else ""
    for term in OBJECT_TERMS:
        if term.name == "object.physical_name" and old.name != new.name and old.physical_name == new.physical_name:
            continue
        named = f"{old.name}." if term.name in ("object.metadata", "definition") else prefix
        for change in _term_changes(term, old, new, default_subject=term.name.rpartition(".")[2]):
            yield replace(change, subject=f"{named}{change.subject}")
    yield from _key_changes(old.fields, new.fields, f"{prefix}primary_key")
    yield from field_changes(old.fields, new.fields, root)


def _key_changes(
    before: Sequence[Field], after: Sequence[Field], subject: str, field: str | None = None
) -> Iterator[Change]:
    """Compare the keys of an object or a nested object; a key field with a declared rename is the same field."""
    old, new = _key_positions(before), _key_positions(after)
    if not old and not new:
        return
    renamed = {one.name: other.name or "" for one, other in pair(before, after).both}
    if not _is_same_key({renamed.get(name, name): place for name, place in old.items()}, new):
        yield Change(object_kinds.primary_key_changed.id, Direction.REPLACED, tuple(old), tuple(new), field, subject)


def _key_positions(fields: Sequence[Field]) -> dict[str, float]:
    """Return the key fields with their positions, in key order; by name where the positions leave the order open."""
    positions = sorted((key_position(field), field.name or "") for field in fields if field.primary_key)
    return {name: position for position, name in positions}


def _is_same_key(old: Mapping[str, float], new: Mapping[str, float]) -> bool:
    """Whether two keys have the same fields, and no two of them in the opposite order."""
    return old.keys() == new.keys() and not any(
        old[one] < old[other] and new[one] > new[other] for one, other in permutations(old, 2)
    )


def field_changes(before: Sequence[Field], after: Sequence[Field], parent: FieldPath) -> Iterator[Change]:
    """Yield the changes between the fields of one object, at any depth."""
    if before == after:
        return
    pairs = pair(before, after)
    for removed in pairs.removed:
        path = str(parent.field(removed.name or ""))
        kind, default = field_kinds.field_removed, _has_default(removed)
        yield Change(kind.id, Direction.REMOVED, _summarize(removed), None, field=path, has_default=default)
    for new in pairs.added:
        path = str(parent.field(new.name or ""))
        kind = field_kinds.field_required_added if new.is_required else field_kinds.field_added
        yield Change(kind.id, Direction.ADDED, None, _summarize(new), field=path, has_default=_has_default(new))
    for old, new in pairs.both:
        if old != new:
            yield from _field_pair_changes(old, new, parent.field(old.name or ""), parent)


def _field_pair_changes(old: Field, new: Field, path: FieldPath, parent: FieldPath | None) -> Iterator[Change]:
    renamed = parent is not None and old.name != new.name
    if renamed and parent is not None:
        after = str(parent.field(new.name or ""))
        kind, default = field_kinds.field_renamed, _has_default(old)
        yield Change(kind.id, Direction.REPLACED, str(path), after, field=str(path), has_default=default)
    changed = _changed_attributes(old, new)
    name = str(path)
    for term in FIELD_TERMS:
        if term.depends_on.isdisjoint(changed):
            continue
        if renamed and term.name == "field.physical_name" and old.physical_name == new.physical_name:
            continue
        yield from _term_changes(term, old, new, field=name)
    if old.type is not None and new.type is not None and old.type.name != new.type.name:
        return
    if old.is_union and new.is_union:
        yield from _branch_changes(old.properties or (), new.properties or (), path)
    else:
        yield from field_changes(old.properties or (), new.properties or (), path)
    yield from _key_changes(old.properties or (), new.properties or (), "primary_key", name)
    yield from _marked_changes(old, new, path)


def _branch_changes(before: Sequence[Field], after: Sequence[Field], path: FieldPath) -> Iterator[Change]:
    """Compare the branches of a union: a new branch makes its type wider, a removed one narrower."""
    pairs = pair(before, after)
    old, new = ("union of " + ", ".join(one.name or "" for one in branches) for branches in (before, after))
    if pairs.removed:
        direction = Direction.REPLACED if pairs.added else Direction.TIGHTENED
        yield Change(field_kinds.field_type_changed.id, direction, old, new, field=str(path))
    elif pairs.added:
        yield Change(field_kinds.field_type_widened.id, Direction.LOOSENED, old, new, field=str(path))
    for one, other in pairs.both:
        if one != other:
            yield from _field_pair_changes(one, other, path.field(one.name or ""), path)


def _changed_attributes(old: Field, new: Field) -> frozenset[str]:
    """Return the attributes that differ, so that only terms that depend on them are compared."""
    return frozenset(name for name in _ATTRIBUTES if getattr(old, name) != getattr(new, name))


def _marked_changes(old: Field, new: Field, path: FieldPath) -> Iterator[Change]:
    """Compare array elements, map keys and map values, which have no names."""
    before, after = dict(old.children), dict(new.children)
    for mark in sorted(before.keys() | after.keys()):
        one, other = before.get(mark), after.get(mark)
        inner = path.into(mark)
        if one is not None and other is not None:
            if one != other:
                yield from _field_pair_changes(one, other, inner, None)
        else:
            direction = Direction.ADDED if one is None else Direction.REMOVED
            kind = field_kinds.field_type_changed
            yield Change(kind.id, direction, one and _summarize(one), other and _summarize(other), field=str(inner))


def _term_changes(
    term: Term,
    before: Contract | SchemaObject | Field,
    after: Contract | SchemaObject | Field,
    field: str | None = None,
    default_subject: str | None = None,
) -> Iterator[Change]:
    one, other = term.read(before), term.read(after)
    for difference in term.compare(one, other):
        kind = kind_for(term.name, difference.direction)
        subject = difference.subject or default_subject
        yield Change(kind.id, difference.direction, difference.before, difference.after, field, subject)


def _has_default(field: Field) -> bool:
    """Whether a reader has a value for the field if the data has none: its default or, if it may be null, null."""
    if field.treaty.get("default") is not None:
        return True
    entries = field.custom_properties or ()
    states_none = any(entry.get("property") == AVRO_DEFAULT_KEY and entry.get("value") == "none" for entry in entries)
    return not field.is_required and not states_none


def _summarize(field: Field) -> str:
    """Return the type of a field and whether it is required, for messages."""
    name = str(field.type) if field.type else "untyped"
    return f"{name}, {'required' if field.is_required else 'optional'}"


_FORM_SUBJECTS = frozenset({"apiVersion"})


def conversion_losses(contract: Contract, written: Contract) -> tuple[Change, ...]:
    """Return the terms that a contract loses when it is written in another form."""
    lost = [
        change
        for change in diff(contract, _with_original_name(contract, written))
        if change.subject not in _FORM_SUBJECTS
    ]
    return (*_name_lost(contract, written), *lost)


def _name_lost(contract: Contract, written: Contract) -> Iterator[Change]:
    """Yield the rename of the object, whose name the short form cannot represent."""
    for item in contract.schema[:1]:
        name = written.schema[0].name if written.schema else None
        if item.name != name:
            yield Change(object_renamed.id, Direction.REPLACED, item.name, name, subject=item.name)


def _with_original_name(contract: Contract, written: Contract) -> Contract:
    """Return the written contract with the original object name, so that its fields are compared."""
    if not contract.schema or not written.schema:
        return written
    first = contract.schema[0]
    named = replace(written.schema[0], name=first.name, id=first.id)
    return replace(written, objects=(named, *written.schema[1:]))
