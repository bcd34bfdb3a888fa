"""From schema objects to whole contracts, and the note that tells them apart."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from treaty.contracts.findings import Place
from treaty.contracts.loading import contract_from
from treaty.contracts.model import Contract, SchemaObject
from treaty.contracts.odcs import LATEST_API_VERSION, write_odcs
from treaty.contracts.reading.limits import refuse
from treaty.contracts.values import Json
from treaty.errors import InvalidDocument
from treaty.formats.carrying import CONTRACT, NOTE, PART_OF, note, restored
from treaty.formats.normal import normal
from treaty.formats.results import UNVERSIONED


@dataclass(frozen=True)
class Part:
    """One schema object as a file has it: the contract it is by itself, and the note beside it."""

    contract: Contract
    kept: Json = None


def contract_of(identity: str, item: SchemaObject, version: str = UNVERSIONED) -> Contract:
    """Return the contract that a foreign schema is by itself."""
    return Contract(identity, version, LATEST_API_VERSION, objects=(item,))


def assembled(parts: Iterable[Part], source: str) -> tuple[Contract, ...]:
    """Complete each contract by its note, join what belongs together, and check each as any contract is checked."""
    whole: list[Contract] = []
    for part in parts:
        (item,) = part.contract.schema
        kept = part.kept if isinstance(part.kept, dict) else {}
        item = restored(item, part.kept, source, item.name)
        if whole and kept.get(PART_OF) == whole[-1].id:
            whole[-1] = replace(whole[-1], objects=(*whole[-1].schema, item))
        else:
            native = replace(part.contract, objects=(item,))
            whole.append(restored(native, kept.get(CONTRACT), source, item.name))
    return checked(whole, source)


def checked(contracts: Iterable[Contract], source: str) -> tuple[Contract, ...]:
    """Return the contracts as their own documents say them, or refuse what no contract may say."""
    good: list[Contract] = []
    for contract in contracts:
        if any(one.id == contract.id for one in good):
            raise refuse(f"{contract.id!r} is declared twice", Place(source), "keep one of them")
        good.append(contract_from(write_odcs(contract), source))
    return tuple(good)


def object_note(contract: Contract, index: int, native: Contract) -> dict[str, Json]:
    """Return the note for one object: its own rest, and with the first the rest of the contract."""
    (item,) = native.schema
    own = note(contract.schema[index], item)
    if index:
        return own | {PART_OF: contract.id}
    whole = note(contract, native)
    return own | ({CONTRACT: whole} if whole else {})


def noted(kept: dict[str, Json]) -> dict[str, Json]:
    """Return the key to write beside the format's own words, if anything is left to say."""
    return {NOTE: kept} if kept else {}


def with_objects(contract: Contract, title: str) -> Contract:
    """Return the contract in plain words, or refuse one without anything to describe."""
    if not contract.schema:
        raise InvalidDocument(f"{contract.id} has no schema objects; {title} needs at least one")
    return normal(contract)
