"""One loader for every form of a contract: it recognises which it has."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from treaty.contracts.findings import Place, PlaceOf
from treaty.contracts.frozen import resolve_deferred
from treaty.contracts.model import Contract, Form
from treaty.contracts.odcs import BlockStyle, looks_like_odcs, parse_odcs, write_odcs
from treaty.contracts.short_form import looks_like_short_form, parse_short_form, short_form_places, write_short_form
from treaty.contracts.text import Limits, ParsedDocument, check_plain, read_document
from treaty.contracts.text.limits import invalid_document
from treaty.contracts.values import Json


@dataclass(frozen=True)
class LoadedContract:
    """A contract, and where each part of it stands in its document."""

    contract: Contract
    place_of: PlaceOf


def load(content: str | bytes, source: str = "<text>", limits: Limits | None = None) -> LoadedContract:
    """Read a contract from YAML or JSON text in any form."""
    return parse(read_document(content, source, limits))


def parse(reading: ParsedDocument) -> LoadedContract:
    """Turn a document that was read into a contract; the document is the contract's from then on."""
    if looks_like_odcs(reading.data):
        return LoadedContract(parse_odcs(reading.data, reading.place), _odcs_places(reading))
    if looks_like_short_form(reading.data):
        return LoadedContract(
            parse_short_form(reading.data, reading.place), short_form_places(reading.data, reading.place)
        )
    raise invalid_document(
        "no contract: it has neither 'apiVersion' and 'schema' (ODCS) nor 'dataset_id' and 'fields' (short form)",
        reading.place(),
        "start from: treaty init",
    )


def _odcs_places(reading: ParsedDocument) -> PlaceOf:
    """Find blocks where they stand: as plain keys, among the custom properties, or, for owners, as the team."""
    carried = reading.data.get("customProperties")
    entries = enumerate(carried if isinstance(carried, list) else ())
    names = {str(entry.get("property")): index for index, entry in entries if isinstance(entry, dict)}

    def place_of(pointer: Sequence[str | int]) -> Place:
        if pointer and pointer[0] not in reading.data:
            if str(pointer[0]) in names:
                return reading.place(("customProperties", names[str(pointer[0])]))
            if pointer[0] == "owners":
                return reading.place(("team",))
        return reading.place(pointer)

    return place_of


def looks_like_contract(data: dict[str, Json]) -> bool:
    """Tell a contract, in any form, by the keys that only it has."""
    return looks_like_odcs(data) or looks_like_short_form(data)


def contract_from(data: dict[str, Json], source: str = "<data>") -> Contract:
    """Turn plain data into a contract; data that JSON cannot say is refused."""
    check_plain(data, source)
    contract = parse(ParsedDocument(source, data, lambda: None)).contract
    for part in (contract, *contract.schema):
        resolve_deferred(part)  # now: the data is somebody else's, who may change it
    return contract


def document_of(contract: Contract) -> dict[str, Json]:
    """Write a contract in the form it was authored in."""
    if contract.form is Form.SHORT:
        return write_short_form(contract)
    return write_odcs(contract, BlockStyle.PLAIN)


CONTRACT_SUFFIXES = (".yaml", ".yml", ".json")
_MEANT = re.compile(
    rb"""^\s*["']?(?:kind["']?\s*:\s*["']?DataContract|dataset_id["']?\s*:|apiVersion["']?\s*:\s*["']?v[23]\.)""",
    re.MULTILINE,
)
_MEANT_IN_ONE_LINE = re.compile(
    rb"""^\s*\{.{0,400}?["']?(?:kind["']?\s*:\s*["']?DataContract|dataset_id["']?\s*:|apiVersion["']?\s*:\s*["']?v[23]\.)""",
)


def looks_like_contract_file(content: bytes) -> bool:
    """Tell a contract from other YAML and JSON by the keys that only it has."""
    return bool(_MEANT.search(content) or _MEANT_IN_ONE_LINE.search(content))
