"""A document before it meets the registry: read, checked, and put into the words it is kept in."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from treaty.consumers.subscriptions import Line
from treaty.contracts.loading import parse
from treaty.contracts.model import Contract, Field, Form
from treaty.contracts.reading import Limits, Reading, check_plain, read_document
from treaty.contracts.reading.limits import refuse
from treaty.contracts.values import EMPTY, Json
from treaty.errors import InvalidDocument
from treaty.governance.lifecycle import Status, parse_status

JSON = "application/json"
YAML = "application/yaml"
_LONGEST_ID = 256
_LARGEST_PART = 999_999_999
_LONGEST_SUMMARY = 500


@dataclass(frozen=True)
class Prepared:
    """A contract that is ready to be judged and kept."""

    contract: Contract
    status: Status
    media: str
    content: bytes
    data: dict[str, Json] = field(repr=False)

    @property
    def parsed(self) -> str:
        """The document as JSON that reads back as the same contract."""
        return json.dumps(_filled(self.data) if self.contract.form is Form.SHORT else self.data, ensure_ascii=False)

    @property
    def digest(self) -> str:
        """What tells two documents apart, whatever the order of their keys."""
        text = json.dumps(self.data, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()

    @property
    def line(self) -> Line:
        """The line the version belongs to."""
        return Line(self.contract.id, self.parts[0])

    @property
    def parts(self) -> tuple[int, int, int]:
        """MAJOR, MINOR and PATCH."""
        version = self.contract.semantic_version
        if version is None:
            raise InvalidDocument(f"{self.contract.version!r} is not a version; write MAJOR.MINOR.PATCH")
        return version.major, version.minor, version.patch


def prepare(
    content: bytes | str | Mapping[str, Json], media: str | None = None, limits: Limits | None = None
) -> Prepared:
    """Read a document in any form; raise InvalidDocument with every problem it has."""
    if isinstance(content, Mapping):
        data = dict(content)
        check_plain(data, "the contract", limits)
        return prepare_reading(Reading("the contract", data, lambda: None), JSON, _as_json(data))
    given = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
    reading = read_document(given, "the contract", limits)
    opens = given.lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
    return prepare_reading(reading, media or (JSON if opens == b"{" else YAML), given)


def prepare_reading(reading: Reading, media: str, content: bytes) -> Prepared:
    """Prepare a document that was read already."""
    contract = parse(reading).contract
    _check_names(contract, reading)
    prepared = Prepared(contract, _status(contract, reading), media, content, reading.data)
    if contract.semantic_version and max(prepared.parts) > _LARGEST_PART:
        raise refuse(f"version {contract.version} has a part above {_LARGEST_PART:,}", reading.place(("version",)))
    return prepared


def searched(contract: Contract) -> dict[str, str]:
    """Return the words that a search finds the contract by, folded; lists stand between line breaks."""
    fields = [found for item in contract.schema for found in _fields_of(item.fields)]
    tags = [str(tag) for tag in contract.more.get("tags") or ()]
    purpose = contract.description or EMPTY
    meanings = [*map(str, purpose.values()), *(item.description or "" for item in contract.schema)]
    meanings += [one.description or "" for one in fields] + [one.business_name or "" for one in fields]
    return {
        "searched_names": _listed([contract.id, contract.name or "", *(item.name for item in contract.schema)]),
        "searched_domain": _listed([contract.domain or ""]),
        "searched_owners": _listed([one for owner in contract.owners for one in (owner.team, owner.contact or "")]),
        "searched_fields": _listed([one.name or "" for one in fields]),
        "searched_tags": _listed(tags),
        "searched_meanings": _listed(meanings),
    }


def summary_of(contract: Contract) -> str | None:
    """Return what the contract says it is for."""
    purpose = (contract.description or EMPTY).get("purpose") or next(
        (item.description for item in contract.schema if item.description), None
    )
    return str(purpose)[:_LONGEST_SUMMARY] if purpose else None


def folded(text: str) -> str:
    """Return a text as searches compare it."""
    return text.casefold()


def _listed(words: list[str]) -> str:
    return "\n" + "\n".join(dict.fromkeys(folded(word).replace("\n", " ") for word in words if word)) + "\n"


def _fields_of(fields: tuple[Field, ...]) -> Iterator[Field]:
    pending = list(reversed(fields))
    while pending:
        one = pending.pop()
        if one.name:
            yield one
        pending += reversed((*(one.properties or ()), *(child for _, child in one.children)))


def _check_names(contract: Contract, reading: Reading) -> None:
    where = reading.place(("dataset_id" if contract.form is Form.SHORT else "id",))
    if len(contract.id) > _LONGEST_ID:
        raise refuse(f"the id has {len(contract.id)} characters; at most {_LONGEST_ID} are kept", where, "shorten it")
    if not contract.id.strip() or contract.id != contract.id.strip() or not contract.id.isprintable():
        raise refuse(f"the id {contract.id!r} is blank, or has blanks around it or signs that do not print", where)
    if any(part in (".", "..", "") for part in contract.id.split("/")):
        raise refuse(f"the id {contract.id!r} has an empty or dotted part between slashes", where, "name each part")
    if _has_nul(reading.data):
        raise refuse("a text has a NUL character, which no database keeps", reading.place(), "take it out")


def _has_nul(data: Json) -> bool:
    text = json.dumps(data)
    return "\\u0000" in text and "\x00" in "".join(_texts(data))


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


def _status(contract: Contract, reading: Reading) -> Status:
    try:
        return parse_status(contract.status)
    except InvalidDocument as error:
        raise refuse(str(error), reading.place(("status",))) from None


def _filled(short: dict[str, Json]) -> dict[str, Json]:
    """Return a short form with every key that it may leave out, as it is read back."""
    sla = short.get("freshness_sla")
    return short | {
        "description": short.get("description"),
        "fields": [_filled_field(one) for one in short["fields"]],
        "owners": [{"team": one["team"], "contact": one.get("contact")} for one in short["owners"]],
        "freshness_sla": {"measurement": "event_time", **sla} if sla else None,
        "status": short.get("status", Status.DRAFT.value),
        "deprecation_uri": short.get("deprecation_uri"),
        "primary_key": short.get("primary_key") or [],
    }


def _filled_field(one: dict[str, Json]) -> dict[str, Json]:
    return {"required": True, "description": None, "enum": None, "deprecated": False, **one}


def _as_json(data: Json) -> bytes:
    return json.dumps(data, ensure_ascii=False).encode("utf-8", "surrogatepass")
