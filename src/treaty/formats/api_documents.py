"""What OpenAPI and AsyncAPI documents have in common: their head, their notes, and how they are read and written."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from treaty.contracts.findings import Place
from treaty.contracts.foreign import add_constructs
from treaty.contracts.model import Contract, SchemaObject
from treaty.contracts.odcs import LATEST_API_VERSION
from treaty.contracts.text import read_document_with_number_keys
from treaty.contracts.text.limits import invalid_document
from treaty.contracts.text.writer import write_yaml
from treaty.contracts.values import EMPTY, FrozenMap, Json, abbreviate, freeze
from treaty.contracts.versions import try_parse_version
from treaty.errors import InvalidDocument
from treaty.formats.api_bodies import BodyReader, BodyWriter
from treaty.formats.flat_terms import as_mapping
from treaty.formats.json_schema.documents import UnresolvedReference, Vocabulary
from treaty.formats.json_schema.writer import UNCHECKED
from treaty.formats.losses import find_losses
from treaty.formats.naming import name_from_path
from treaty.formats.notes import (
    CONTRACT_KEY,
    FULL_RULES_KEY,
    apply_note,
    make_note,
    require_objects,
    validate_contracts,
)
from treaty.formats.results import UNVERSIONED, FileReader, Loss, ReadResult, WriteResult, no_contract
from treaty.formats.unchecked_rules import find_unchecked_rules

NOTES_KEY = "x-treaty"
ENDINGS = (".openapi.yaml", ".openapi.json", ".asyncapi.yaml", ".asyncapi.json", ".yaml", ".yml", ".json")
_OBJECTS_KEY = "objects"
_POSITION_KEY = "position"
_CONTENT_KEY = "content"
_NOT_NAME_CHARACTERS = re.compile(r"[^\w.-]+")
MAX_NAME_LENGTH = 100
_MAX_REFERENCE_HOPS = 20
_MAX_LOSS_LENGTH = 200


@dataclass(frozen=True)
class ApiNotes:
    """The notes of a document: on the contract, and on its objects by the names that the document gives them.

    `full_rules`: the schemas were written by Treaty and state the limits of types. `closed`: the contract is closed.
    """

    contract: Json = None
    objects: Mapping[str, Json] = field(default_factory=dict)
    full_rules: bool = False
    closed: bool = False


def read_notes(data: Mapping[str, Any], source: str) -> ApiNotes:
    """Read the notes of a document."""
    value = data.get(NOTES_KEY)
    if value is None:
        return ApiNotes()
    if not isinstance(value, Mapping) or not isinstance(value.get(_OBJECTS_KEY, {}), Mapping):
        raise invalid_document(f"the note {NOTES_KEY!r} is not a mapping with objects", Place(source), "remove it")
    objects = value.get(_OBJECTS_KEY, {})
    is_closed = value.get(_CONTENT_KEY) == "closed"
    return ApiNotes(value.get(CONTRACT_KEY), objects, value.get(FULL_RULES_KEY) is True, is_closed)


def start_notes(contract: Contract) -> dict[str, Json]:
    """Return the notes that a reader must know before it reads the objects of a written document."""
    closed = {_CONTENT_KEY: "closed"} if contract.treaty.content == "closed" else {}
    return {FULL_RULES_KEY: True, **closed}


def finish_notes(contract: Contract, native: Contract, names: Sequence[str]) -> dict[str, Json]:
    """Return the notes that restore a contract from the one that its document states.

    `names` are those that the document gives to the objects of the contract, in their order.
    """
    known = {item.name: item for item in native.schema}
    is_ordered = [item.name for item in native.schema] == list(names)
    objects: dict[str, Json] = {}
    for position, (item, name) in enumerate(zip(contract.schema, names, strict=True)):
        note = make_note(item, known[name]) | ({} if is_ordered else {_POSITION_KEY: position})
        objects |= {name: note} if note else {}
    whole = make_note(contract, native)
    entries: dict[str, Json] = {CONTRACT_KEY: whole, _OBJECTS_KEY: objects}
    return start_notes(contract) | {key: value for key, value in entries.items() if value}


def assemble(head: Contract, items: Sequence[SchemaObject], notes: ApiNotes, source: str) -> Contract:
    """Return the contract of a document with its notes applied, validated."""
    positions: list[tuple[float, SchemaObject]] = []
    for item in items:
        note = notes.objects.get(item.name)
        place: Any = as_mapping(note).get(_POSITION_KEY)
        own = {key: value for key, value in note.items() if key != _POSITION_KEY} if isinstance(note, Mapping) else note
        position = place if isinstance(place, int) else float("inf")
        positions.append((position, apply_note(item, own, source, item.name)))
    positions.sort(key=lambda entry: entry[0])
    native = replace(head, objects=tuple(item for _, item in positions))
    (contract,) = validate_contracts([apply_note(native, notes.contract, source, head.id)], source)
    return contract


def make_id(title: str) -> str:
    """Return the title of a document as an id: Orders API → orders-api."""
    return _NOT_NAME_CHARACTERS.sub("-", title).strip("-").lower()[:MAX_NAME_LENGTH]


def read_head(data: Mapping[str, Any], source: str, notes: ApiNotes) -> tuple[Contract, list[Loss]]:
    """Read the head of a document as a contract without objects, and what it loses."""
    info = as_mapping(data.get("info"))
    title, version, description = info.get("title"), info.get("version"), info.get("description")
    name = title if isinstance(title, str) and make_id(title) else None
    is_semantic = isinstance(version, str) and try_parse_version(version) is not None
    losses = []
    if isinstance(version, str) and not is_semantic and "version" not in as_mapping(notes.contract):
        losses.append(Loss("", f"version {version}", "the version of a contract is MAJOR.MINOR.PATCH"))
    head = Contract(
        make_id(name) if name else name_from_path(source, ENDINGS),
        str(version) if is_semantic else UNVERSIONED,
        LATEST_API_VERSION,
        name=name,
        description=FrozenMap({"purpose": description}) if isinstance(description, str) and description else None,
        custom_properties=_owner(info.get("contact")),
    )
    return head, losses


def _owner(contact: Json) -> tuple[FrozenMap, ...] | None:
    """Return the contact of an API as the owner of the contract."""
    if not isinstance(contact, Mapping) or not isinstance(contact.get("name"), str) or not contact["name"].strip():
        return None
    address = next((contact[key] for key in ("email", "url") if isinstance(contact.get(key), str)), None)
    owner = {"team": contact["name"], **({"contact": address} if address else {})}
    return (freeze({"property": "owners", "value": [owner]}),)


def write_head(contract: Contract) -> dict[str, Json]:
    """Return the `info` of a document."""
    info: dict[str, Json] = {"title": contract.name or contract.id, "version": contract.version}
    purpose = (contract.description or EMPTY).get("purpose")
    if isinstance(purpose, str) and purpose:
        info["description"] = purpose
    return info


class ApiReader(ABC):
    """Reads one document. A format defines which objects its document has."""

    title: ClassVar[str]
    """The name of the format."""

    def __init__(self, source: str, data: Mapping[str, Any], files: FileReader, vocabulary: Vocabulary) -> None:
        self.source = source
        self.notes = read_notes(data, source)
        self.bodies = BodyReader(source, data, files, vocabulary)
        self.bodies.fields.closed = self.notes.closed
        self.bodies.fields.has_full_rules = self.notes.full_rules
        self.documents = self.bodies.schemas.documents
        self.data: Mapping[str, Any] = self.documents.root
        self.lost: list[Loss] = []

    @abstractmethod
    def objects(self) -> tuple[SchemaObject, ...]:
        """Read the objects of the document; raise NoContract if there are none."""

    def result(self) -> ReadResult:
        """Read the document as a contract with its notes, and what the contract lost."""
        native = self.native()
        contract = assemble(replace(native, objects=None), native.schema, self.notes, self.source)
        return ReadResult((contract,), (*self.lost, *self.bodies.schemas.losses()))

    def native(self) -> Contract:
        """Read what the document itself states, without its notes."""
        head, losses = read_head(self.data, self.source, self.notes)
        self.lost += losses
        objects = self.objects()
        custom = add_constructs(head.custom_properties, self.bodies.kept_definitions())
        return replace(head, objects=objects, custom_properties=custom)

    def resolve(self, value: Json, where: str) -> Mapping[str, Any]:
        """Return a part of the document with its reference followed."""
        for _ in range(_MAX_REFERENCE_HOPS):
            if not isinstance(value, Mapping):
                raise self.invalid(f"{where}: {abbreviate(value)!r} is not a mapping")
            reference = value.get("$ref")
            if not isinstance(reference, str):
                return value
            try:
                value = self.documents.resolve(reference)
            except UnresolvedReference:
                name = self.documents.short_name(reference)
                self.lose(where, f"the part {name}", "it is in no file that can be read")
                return {}
        raise self.invalid(f"{where}: its references lead in a circle")

    def lose(self, path: str, what: str, why: str) -> None:
        """Record a part of the document that the contract does not have."""
        self.lost.append(Loss(path, abbreviate(what, _MAX_LOSS_LENGTH), why))

    def invalid(self, message: str) -> InvalidDocument:
        """Return the error for a part that the format does not allow."""
        return no_contract(message, self.source, f"see the {self.title} specification")


class ApiWriter(ABC):
    """Writes one contract; `native_names` are the names that the document gives to its objects."""

    def __init__(self, contract: Contract) -> None:
        self.contract = contract
        self.bodies = BodyWriter(contract)
        self.native_names = [""] * len(contract.schema)

    @abstractmethod
    def document(self) -> dict[str, Json]:
        """Return the document without the notes on its objects."""

    @abstractmethod
    def carried_terms(self) -> Iterable[Loss]:
        """Return the terms of which the document has only a note."""

    def components(self) -> dict[str, Json]:
        """Return the schemas to which the document refers."""
        return {"components": {"schemas": self.bodies.components}} if self.bodies.components else {}


def write_document(
    contract: Contract,
    title: str,
    make_writer: Callable[[Contract], ApiWriter],
    make_reader: Callable[[str, Mapping[str, Any]], ApiReader],
) -> WriteResult:
    """Write a contract as a document with notes; its losses are what reading the text does not give back."""
    plain = require_objects(contract, title)
    writer = make_writer(plain)
    document = writer.document()
    native = make_reader(plain.id, document).native()
    document[NOTES_KEY] = finish_notes(plain, native, writer.native_names)
    text = write_yaml(document)
    written = make_reader(contract.id, read_document_with_number_keys(text, contract.id).data).result()
    losses = find_losses(contract, written.contracts, {"*": f"{title} cannot express it"})
    return WriteResult(text, (*losses, *find_unchecked_rules(plain, UNCHECKED), *writer.carried_terms()))
