"""What a format has no word for, kept beside its own words where the format has room for notes.

A format that lets strangers keep notes (Avro attributes, JSON Schema keywords, dbt's meta, Spark's metadata) carries
the rest of a contract under the key `treaty`: keys the format says nothing of, and under `instead` those it says
otherwise, each with what the format said then. A schema that was edited since is believed before the note.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from treaty.contracts.findings import Place
from treaty.contracts.loader import contract_from
from treaty.contracts.model import Contract, Field, SchemaObject
from treaty.contracts.odcs import LATEST_API_VERSION, write_odcs
from treaty.contracts.text.limits import refuse
from treaty.contracts.values import Json, brief, same
from treaty.errors import InvalidDocument
from treaty.formats.flat_terms import CHILD_KEYS, ContractPart, flatten, flatten_children, unflatten, unflatten_children
from treaty.formats.normalization import normalize
from treaty.formats.results import UNVERSIONED

NOTE_KEY = "treaty"
CONTRACT_KEY = "contract"
PART_OF_KEY = "part_of"
_INSTEAD = "instead"
_INSIDE = ("properties", *CHILD_KEYS)
_BESIDE = frozenset({_INSTEAD, CONTRACT_KEY, PART_OF_KEY})


def make_note(said: Contract | SchemaObject | Field, native: Contract | SchemaObject | Field) -> dict[str, Json]:
    """Return what must be kept beside the format's own words, so that the part can be restored."""
    wanted, given = _said(said), _said(native)
    kept = {key: value for key, value in wanted.items() if key not in given}
    instead: dict[str, Json] = {}
    for key, value in given.items():
        if key not in wanted:
            instead[key] = {"of": value}
        elif not same(value, wanted[key]):
            instead[key] = {"of": value, "is": wanted[key]}
    return kept | ({_INSTEAD: instead} if instead else {})


def apply_note(native: ContractPart, kept: Json, source: str, where: str) -> ContractPart:
    """Return the part as the note beside it completes it."""
    if kept is None:
        return native
    if not isinstance(kept, Mapping):
        raise refuse(f"{where}: the note {NOTE_KEY!r} is {brief(kept)!r}, not a mapping", Place(source), "remove it")
    given = _said(native)
    instead = kept.get(_INSTEAD, {})
    if not isinstance(instead, Mapping) or not all(isinstance(one, Mapping) for one in instead.values()):
        raise refuse(
            f"{where}: {_INSTEAD!r} in the note {NOTE_KEY!r} is no mapping of mappings", Place(source), "remove it"
        )
    said = dict(given)
    for key, entry in instead.items():
        if key in given and "of" in entry and same(given[key], entry["of"]):
            del said[key]
            said |= {key: entry["is"]} if "is" in entry else {}
    said |= {key: value for key, value in kept.items() if key not in _BESIDE and key not in given}
    if isinstance(native, Contract):
        said.setdefault("version", UNVERSIONED)
    inner = {key: said.pop(key) for key in _INSIDE if key in said}
    try:
        whole = unflatten(native, said)
        if isinstance(whole, Field) and any(inner.get(key) is not given.get(key) for key in _INSIDE):
            return unflatten_children(whole, inner)
    except (AttributeError, TypeError):
        raise refuse(
            f"{where}: the note {NOTE_KEY!r} has a key of the wrong shape", Place(source), "remove it"
        ) from None
    return whole


def _said(part: Contract | SchemaObject | Field) -> dict[str, Json]:
    said = flatten(part) | (flatten_children(part) if isinstance(part, Field) else {})
    if isinstance(part, Contract) and part.version == UNVERSIONED:
        del said["version"]
    return said


@dataclass(frozen=True)
class SchemaPart:
    """One schema object as a file has it: the contract it is by itself, and the note beside it."""

    contract: Contract
    kept: Json = None


def make_contract(identity: str, item: SchemaObject, version: str = UNVERSIONED) -> Contract:
    """Return the contract that a foreign schema is by itself."""
    return Contract(identity, version, LATEST_API_VERSION, objects=(item,))


def assemble_contracts(parts: Iterable[SchemaPart], source: str) -> tuple[Contract, ...]:
    """Complete each contract by its note, join what belongs together, and check each as any contract is checked."""
    whole: list[Contract] = []
    for part in parts:
        (item,) = part.contract.schema
        kept = part.kept if isinstance(part.kept, dict) else {}
        item = apply_note(item, part.kept, source, item.name)
        if whole and kept.get(PART_OF_KEY) == whole[-1].id:
            whole[-1] = replace(whole[-1], objects=(*whole[-1].schema, item))
        else:
            native = replace(part.contract, objects=(item,))
            whole.append(apply_note(native, kept.get(CONTRACT_KEY), source, item.name))
    return validate_contracts(whole, source)


def validate_contracts(contracts: Iterable[Contract], source: str) -> tuple[Contract, ...]:
    """Return the contracts as their own documents say them, or refuse what no contract may say."""
    good: list[Contract] = []
    for contract in contracts:
        if any(one.id == contract.id for one in good):
            raise refuse(f"{contract.id!r} is declared twice", Place(source), "keep one of them")
        good.append(contract_from(write_odcs(contract), source))
    return tuple(good)


def make_object_note(contract: Contract, index: int, native: Contract) -> dict[str, Json]:
    """Return the note for one object: its own rest, and with the first the rest of the contract."""
    (item,) = native.schema
    own = make_note(contract.schema[index], item)
    if index:
        return own | {PART_OF_KEY: contract.id}
    whole = make_note(contract, native)
    return own | ({CONTRACT_KEY: whole} if whole else {})


def note_entry(kept: dict[str, Json]) -> dict[str, Json]:
    """Return the key to write beside the format's own words, if anything is left to say."""
    return {NOTE_KEY: kept} if kept else {}


def require_objects(contract: Contract, title: str) -> Contract:
    """Return the contract in plain words, or refuse one without anything to describe."""
    if not contract.schema:
        raise InvalidDocument(f"{contract.id} has no schema objects; {title} needs at least one")
    return normalize(contract)
