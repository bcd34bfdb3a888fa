"""Notes that carry the terms a format cannot express.

Formats with room for custom metadata (Avro attributes, JSON Schema keywords, dbt's meta, Spark's metadata) carry the
rest of a contract under the key `treaty`: terms the format does not have and, under `instead`, terms it states
differently, each with the value in the schema. If the schema has been edited since, the schema wins over the note.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from treaty.contracts.findings import Place
from treaty.contracts.loader import contract_from
from treaty.contracts.model import Contract, Field, SchemaObject
from treaty.contracts.odcs import LATEST_API_VERSION, write_odcs
from treaty.contracts.text.limits import invalid_document
from treaty.contracts.values import Json, abbreviate, json_equal
from treaty.errors import InvalidDocument
from treaty.formats.flat_terms import CHILD_KEYS, ContractPart, flatten, flatten_children, unflatten, unflatten_children
from treaty.formats.normalization import normalize
from treaty.formats.results import UNVERSIONED

NOTE_KEY = "treaty"
CONTRACT_KEY = "contract"
PART_OF_KEY = "part_of"
FULL_RULES_KEY = "full_rules"
"""Marks a schema that states the limits of its types (ranges, lengths, patterns) as rules of their own."""
_INSTEAD = "instead"
_NESTED_KEYS = ("properties", *CHILD_KEYS)
_RESERVED_KEYS = frozenset({_INSTEAD, CONTRACT_KEY, PART_OF_KEY, FULL_RULES_KEY})


def make_note(part: Contract | SchemaObject | Field, native: Contract | SchemaObject | Field) -> dict[str, Json]:
    """Return the note that restores a part from what the format itself states (`native`)."""
    wanted, given = _terms(part), _terms(native)
    note = {key: value for key, value in wanted.items() if key not in given}
    instead: dict[str, Json] = {}
    for key, value in given.items():
        if key not in wanted:
            instead[key] = {"of": value}
        elif not json_equal(value, wanted[key]):
            instead[key] = {"of": value, "is": wanted[key]}
    return note | ({_INSTEAD: instead} if instead else {})


def apply_note(native: ContractPart, note: Json, source: str, where: str) -> ContractPart:
    """Return the part completed by its note."""
    if note is None:
        return native
    if not isinstance(note, Mapping):
        raise invalid_document(
            f"{where}: the note {NOTE_KEY!r} is {abbreviate(note)!r}, not a mapping", Place(source), "remove it"
        )
    given = _terms(native)
    instead = note.get(_INSTEAD, {})
    if not isinstance(instead, Mapping) or not all(isinstance(one, Mapping) for one in instead.values()):
        raise invalid_document(
            f"{where}: {_INSTEAD!r} in the note {NOTE_KEY!r} is not a mapping of mappings", Place(source), "remove it"
        )
    terms = dict(given)
    for key, entry in instead.items():
        if key in given and "of" in entry and json_equal(given[key], entry["of"]):
            del terms[key]
            terms |= {key: entry["is"]} if "is" in entry else {}
    terms |= {key: value for key, value in note.items() if key not in _RESERVED_KEYS and key not in given}
    if isinstance(native, Contract):
        terms.setdefault("version", UNVERSIONED)
    inner = {key: terms.pop(key) for key in _NESTED_KEYS if key in terms}
    try:
        whole = unflatten(native, terms)
        if isinstance(whole, Field) and any(inner.get(key) is not given.get(key) for key in _NESTED_KEYS):
            return unflatten_children(whole, inner)
    except (AttributeError, TypeError):
        raise invalid_document(
            f"{where}: a key of the note {NOTE_KEY!r} has the wrong type", Place(source), "remove it"
        ) from None
    return whole


def _terms(part: Contract | SchemaObject | Field) -> dict[str, Json]:
    terms = flatten(part) | (flatten_children(part) if isinstance(part, Field) else {})
    if isinstance(part, Contract) and part.version == UNVERSIONED:
        del terms["version"]
    return terms


@dataclass(frozen=True)
class SchemaPart:
    """One schema object of a file: the contract that it describes, and its note."""

    contract: Contract
    note: Json = None


def make_contract(identity: str, item: SchemaObject, version: str = UNVERSIONED) -> Contract:
    """Return a contract with one object."""
    return Contract(identity, version, LATEST_API_VERSION, objects=(item,))


def assemble_contracts(parts: Iterable[SchemaPart], source: str) -> tuple[Contract, ...]:
    """Apply the notes, join the objects of one contract, and validate each contract."""
    contracts: list[Contract] = []
    for part in parts:
        (item,) = part.contract.schema
        note = part.note if isinstance(part.note, dict) else {}
        item = apply_note(item, part.note, source, item.name)
        if contracts and note.get(PART_OF_KEY) == contracts[-1].id:
            contracts[-1] = replace(contracts[-1], objects=(*contracts[-1].schema, item))
        else:
            native = replace(part.contract, objects=(item,))
            contracts.append(apply_note(native, note.get(CONTRACT_KEY), source, item.name))
    return validate_contracts(contracts, source)


def validate_contracts(contracts: Iterable[Contract], source: str) -> tuple[Contract, ...]:
    """Validate contracts by writing and reading their ODCS documents; refuse two contracts with the same id."""
    valid: list[Contract] = []
    for contract in contracts:
        if any(one.id == contract.id for one in valid):
            raise invalid_document(f"{contract.id!r} is declared twice", Place(source), "remove one of them")
        valid.append(contract_from(write_odcs(contract), source))
    return tuple(valid)


def make_object_note(contract: Contract, index: int, native: Contract) -> dict[str, Json]:
    """Return the note of one object; the note of the first object also carries the rest of the contract."""
    (item,) = native.schema
    own = make_note(contract.schema[index], item)
    if index:
        return own | {PART_OF_KEY: contract.id}
    whole = make_note(contract, native)
    return own | ({CONTRACT_KEY: whole} if whole else {})


def note_entry(note: dict[str, Json]) -> dict[str, Json]:
    """Return the note under its key, or nothing if it is empty."""
    return {NOTE_KEY: note} if note else {}


def require_objects(contract: Contract, title: str) -> Contract:
    """Return the normalized contract; refuse a contract without objects."""
    if not contract.schema:
        raise InvalidDocument(f"{contract.id} has no schema objects; {title} needs at least one")
    return normalize(contract)
