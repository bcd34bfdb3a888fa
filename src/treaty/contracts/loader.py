"""Loads contracts from documents and converts them back; detects ODCS and the short form."""

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
    """A contract, and the places of its parts in the document."""

    contract: Contract
    place_of: PlaceOf


def load(content: str | bytes, source: str = "<text>", limits: Limits | None = None) -> LoadedContract:
    """Read a contract from YAML or JSON text, in ODCS or the short form."""
    return parse(read_document(content, source, limits))


def parse(reading: ParsedDocument) -> LoadedContract:
    """Convert a parsed document to a contract. The contract may keep references to the data of the document."""
    if (older := _older_format(reading.data)) is not None:
        raise invalid_document(f"a document of {older}", reading.place(), "convert it: treaty convert FILE --to odcs")
    if looks_like_odcs(reading.data):
        return LoadedContract(parse_odcs(reading.data, reading.place), _odcs_places(reading))
    if looks_like_short_form(reading.data):
        return LoadedContract(
            parse_short_form(reading.data, reading.place), short_form_places(reading.data, reading.place)
        )
    looks_like_json_schema = "properties" in reading.data or "$ref" in reading.data
    raise invalid_document(
        "not a contract: it has neither 'apiVersion' and 'schema' (ODCS) nor 'dataset_id' and 'fields' (short form)",
        reading.place(),
        "state $schema or name the file *.schema.json if it is a JSON Schema"
        if looks_like_json_schema
        else "start from: treaty init",
    )


def _older_format(data: dict[str, Json]) -> str | None:
    """Return the title of an older contract format that `treaty.formats` reads, judging by its keys."""
    if "dataContractSpecification" in data:
        return "the Data Contract Specification"
    is_2 = str(data.get("apiVersion")).removeprefix("v").startswith("2.")
    return "ODCS 2" if is_2 and not _ODCS_2_KEYS.isdisjoint(data) else None


def _odcs_places(reading: ParsedDocument) -> PlaceOf:
    """Return the places of blocks: plain keys, custom properties or, for owners, the team."""
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
    """Return whether data has the keys of a contract, in ODCS or the short form."""
    return looks_like_odcs(data) or looks_like_short_form(data)


def contract_from(data: dict[str, Json], source: str = "<data>") -> Contract:
    """Convert plain data to a contract; data that JSON cannot represent is refused."""
    check_plain(data, source)
    contract = parse(ParsedDocument(source, data, lambda: None)).contract
    for part in (contract, *contract.schema):
        resolve_deferred(part)  # now, because the caller may change the data
    return contract


def document_of(contract: Contract) -> dict[str, Json]:
    """Return the document of a contract, in the form it was written in."""
    if contract.form is Form.SHORT:
        return write_short_form(contract)
    return write_odcs(contract, BlockStyle.PLAIN)


CONTRACT_SUFFIXES = (".yaml", ".yml", ".json")
_CONTRACT_KEY = re.compile(
    rb"""^\s*["']?(?:kind["']?\s*:\s*["']?DataContract|dataset_id["']?\s*:|apiVersion["']?\s*:\s*["']?v[23]\.)""",
    re.MULTILINE,
)
_CONTRACT_KEY_IN_ONE_LINE = re.compile(
    rb"""^\s*\{.{0,400}?["']?(?:kind["']?\s*:\s*["']?DataContract|dataset_id["']?\s*:|apiVersion["']?\s*:\s*["']?v[23]\.)""",
)


_API_KEY = re.compile(rb"""^\s*\{?\s*["']?(?:openapi|asyncapi)["']?\s*:\s*["']?[23]\.\d""", re.MULTILINE)
"""The version of an OpenAPI or AsyncAPI document, whose schemas may have the keys of a contract."""
_MAX_HEAD = 2_000


def looks_like_contract_file(content: bytes) -> bool:
    """Return whether a YAML or JSON file is meant to be a contract, judging by its keys; the file may be invalid."""
    if _API_KEY.search(content[:_MAX_HEAD]):
        return False
    return bool(_CONTRACT_KEY.search(content) or _CONTRACT_KEY_IN_ONE_LINE.search(content))


_ODCS_2_KEYS = frozenset({"uuid", "dataset", "datasetName", "quantumName"})
_ODCS_2_VERSION = re.compile(rb"""^\s*["']?apiVersion["']?\s*:\s*["']?v?2\.""", re.MULTILINE)
_ODCS_2_KEY = re.compile(rb"""^\s*["']?(?:uuid|dataset|datasetName|quantumName)["']?\s*:""", re.MULTILINE)


def looks_like_odcs_2_file(content: bytes) -> bool:
    """Return whether a file has the version and keys of ODCS 2; with the keys of ODCS 3 it is a contract."""
    return _ODCS_2_VERSION.search(content) is not None and _ODCS_2_KEY.search(content) is not None
