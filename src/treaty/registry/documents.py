"""Contract documents: reading, validation, digests, and the words that searches match."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from typing import Any, TypeAlias

from treaty.contracts.blocks import Audience
from treaty.contracts.frozen import lazy
from treaty.contracts.loader import parse
from treaty.contracts.model import Contract, Field, Form
from treaty.contracts.text import Limits, ParsedDocument, check_plain, read_document, read_json
from treaty.contracts.text.limits import invalid_document
from treaty.contracts.validation import raise_if_any
from treaty.contracts.values import EMPTY, Json
from treaty.contracts.versions import Line
from treaty.errors import InvalidDocument
from treaty.governance.lifecycle import Status, parse_status
from treaty.governance.lint import required_findings

JSON = "application/json"
YAML = "application/yaml"
_MAX_ID_LENGTH = 256
_MAX_SUMMARY_LENGTH = 500
MAX_NAME_LENGTH = 200
MAX_VERSION_PART = 999_999_999
"""The largest MAJOR, MINOR or PATCH."""

_NO_WORDS = "\n"


@dataclass(frozen=True)
class PreparedDocument:
    """A contract document that was read and validated."""

    contract: Contract
    status: Status
    media: str
    content: bytes
    data: dict[str, Json] = dataclass_field(repr=False)

    @lazy
    def parsed(self) -> str:
        """The document as JSON that reads back as the same contract: as it was raw, where that is JSON."""
        written = self.content if self.media == JSON else as_json(self.data)
        return written.decode("utf-8", "surrogatepass").removeprefix("\ufeff")

    @lazy
    def words(self) -> dict[str, str]:
        """The words that searches match."""
        return search_words(self.contract)

    @lazy
    def digest(self) -> str:
        """The digest of the document, independent of the order of keys."""
        return digest_of(self.data)

    @property
    def line(self) -> Line:
        """The line the version belongs to."""
        return Line(self.contract.id, self.parts[0])

    @lazy
    def parts(self) -> tuple[int, int, int]:
        """MAJOR, MINOR and PATCH."""
        version = self.contract.semantic_version
        if version is None:
            raise InvalidDocument(f"{self.contract.version!r} is not a version; write MAJOR.MINOR.PATCH")
        return version.major, version.minor, version.patch


Document: TypeAlias = bytes | str | Mapping[str, Json] | PreparedDocument
"""A contract document: YAML or JSON text, data, or one that was prepared before."""


@dataclass(frozen=True)
class Submission:
    """A document from a request, and the requested mode."""

    document: PreparedDocument
    compatibility: str | None = None


def prepare(
    content: bytes | str | Mapping[str, Json],
    media: str | None = None,
    limits: Limits | None = None,
    source: str = "the contract",
) -> PreparedDocument:
    """Read a document in any form; raise InvalidDocument with every problem it has."""
    if isinstance(content, Mapping):
        data = dict(content)
        check_plain(data, source, limits)
        return prepare_reading(ParsedDocument(source, data, lambda: None), JSON, as_json(data))
    raw = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
    reading, detected = _read(raw, source, limits)
    return prepare_reading(reading, detected if media is None or detected == YAML else media, raw)


def prepare_reading(reading: ParsedDocument, media: str, content: bytes) -> PreparedDocument:
    """Prepare a document that was read already."""
    loaded = parse(reading)
    contract = loaded.contract
    _check_names(contract, reading)
    raise_if_any(required_findings(contract, loaded.place_of))
    prepared = PreparedDocument(contract, _status(contract, reading), media, content, reading.data)
    if "\\u0000" in prepared.parsed and "\x00" in "".join(_texts(reading.data)):
        raise invalid_document("a text has a NUL character, which cannot be stored", reading.place(), "remove it")
    if contract.semantic_version and max(prepared.parts) > MAX_VERSION_PART:
        raise invalid_document(
            f"version {contract.version} has a part above {MAX_VERSION_PART:,}", reading.place(("version",))
        )
    return prepared


def _read(raw: bytes, source: str, limits: Limits | None) -> tuple[ParsedDocument, str]:
    """Read a document as JSON or YAML; YAML may begin with a brace, too."""
    if raw.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"{":
        with suppress(InvalidDocument):
            return read_json(raw, source, limits), JSON
    return read_document(raw, source, limits), YAML


_OF_EACH_LINE = ("searched_fields", "searched_meanings")


def search_words(contract: Contract) -> dict[str, str]:
    """Return the case-folded words that searches match, separated by line breaks."""
    names, fields = [contract.id, contract.name], list[str | None]()
    meanings: list[str | None] = (
        [str(description) for description in contract.description.values()] if contract.description else []
    )
    for table in contract.schema:
        names.append(table.name)
        meanings.append(table.description)
        named = _fields_of(table.fields)
        fields += [field.name for field in named]
        meanings += [field.description for field in named]
        meanings += [field.business_name for field in named]
    return {
        "searched_names": _listed(names),
        "searched_domain": _listed([contract.domain]),
        "searched_owners": _listed(_owners_in(contract)),
        "searched_fields": _listed(fields),
        "searched_tags": _listed([str(tag) for tag in contract.more.get("tags") or ()]),
        "searched_meanings": _listed(meanings),
    }


def _owners_in(contract: Contract) -> list[str | None]:
    return [text for owner in contract.owners for text in (owner.team, owner.contact)]


def merge_search_words(*lines: Mapping[str, str]) -> dict[str, str]:
    """Return the fields of several lines and their meanings as one list each; the highest alone names a contract."""
    return {
        name: _listed([word for line_words in lines for word in line_words[name].split("\n")]) for name in _OF_EACH_LINE
    }


def summary_of(contract: Contract) -> str | None:
    """Return the purpose of the contract."""
    purpose = (contract.description or EMPTY).get("purpose") or next(
        (table.description for table in contract.schema if table.description), None
    )
    return str(purpose)[:_MAX_SUMMARY_LENGTH] if purpose else None


def readers_of(contract: Contract) -> list[str] | None:
    """Return who may read a contract that is not open to everyone: its owners, and the teams and domains it names."""
    audience = contract.treaty.visibility
    if audience is None:
        return None
    owners = Audience(tuple(owner.team for owner in contract.owners))
    return sorted(audience.names | owners.names)


def folded(text: str) -> str:
    """Return a text as searches compare it."""
    return text.casefold()


def _listed(words: list[str | None]) -> str:
    unique = dict.fromkeys(filter(None, words))
    if not unique:
        return _NO_WORDS
    text = "\n".join(unique)
    if text.count("\n") >= len(unique):
        text = "\n".join(word.replace("\n", " ") for word in unique)
    return f"\n{folded(text)}\n"


def _fields_of(fields: tuple[Field, ...]) -> list[Field]:
    """Return every field that has a name, at any depth."""
    named: list[Field] = []
    for field in fields:
        if field.name:
            named.append(field)
        if field.properties:
            named += _fields_of(field.properties)
        if field.items is not None or field.map_value is not None:
            named += _fields_of(tuple(child for _, child in field.children))
    return named


def _check_names(contract: Contract, reading: ParsedDocument) -> None:
    if problem := _problem_with(contract.id):
        raise invalid_document(
            problem, reading.place(("dataset_id" if contract.form is Form.SHORT else "id",)), "choose another id"
        )


def _problem_with(name: str) -> str | None:
    if len(name) > _MAX_ID_LENGTH:
        return f"the id has {len(name)} characters; at most {_MAX_ID_LENGTH} are allowed"
    if not name.strip() or name != name.strip() or not name.isprintable():
        return f"the id {name!r} is blank, has blanks around it, or has characters that do not print"
    if any(part in (".", "..", "") for part in name.split("/")):
        return f"the id {name!r} has an empty or dotted part between slashes"
    return None


def _texts(data: Json) -> Iterator[str]:
    pending = [data]
    while pending:
        value = pending.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            pending += [*value.keys(), *value.values()]
        elif isinstance(value, list):
            pending += value


def _status(contract: Contract, reading: ParsedDocument) -> Status:
    try:
        return parse_status(contract.status)
    except InvalidDocument as error:
        raise invalid_document(str(error), reading.place(("status",))) from None


def without_block(document: dict[str, Any], name: str) -> dict[str, Any]:
    """Return a document without one of Treaty's blocks, whether it is a plain key or a custom property."""
    rest = {key: value for key, value in document.items() if key != name}
    carried = rest.get("customProperties")
    if isinstance(carried, list):
        kept = [entry for entry in carried if not (isinstance(entry, dict) and entry.get("property") == name)]
        if len(kept) < len(carried):
            rest["customProperties"] = kept
    return rest


_LIFECYCLE_KEYS = ("status", "deprecation", "deprecation_uri")


def same_but_for_lifecycle(before: dict[str, Any], after: dict[str, Any]) -> bool:
    """Return whether two documents of a version differ in nothing but their status and deprecation."""
    for key in _LIFECYCLE_KEYS:
        before, after = without_block(before, key), without_block(after, key)
    return before == after


_CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"))


def digest_of(data: Json) -> str:
    """Return the SHA-256 of the canonical JSON of the data. Stored digests depend on it, so it must never change."""
    return hashlib.sha256(canonical_json(data)).hexdigest()


def digest_of_state(state: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a state; dates and other values that JSON does not know count as their text."""
    return digest_of(json.loads(json.dumps(state, default=str)))


def canonical_json(data: Json) -> bytes:
    """Return the data as ASCII JSON with sorted keys and without blanks."""
    return _CANONICAL.encode(data).encode()


def as_json(data: Json) -> bytes:
    """Write a document as UTF-8; halves of surrogate pairs pass, so that checks of names and texts can refuse them."""
    return json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")


def check_name(text: str, what: str) -> str:
    """Return a name, or refuse one that is blank, too long or cannot be printed."""
    if not text.strip() or text != text.strip() or not text.isprintable() or len(text) > MAX_NAME_LENGTH:
        raise InvalidDocument(
            f"{text[:60]!r} is not a valid name of a {what}; "
            f"use 1 to {MAX_NAME_LENGTH} printable characters, without blanks around them"
        )
    return text
