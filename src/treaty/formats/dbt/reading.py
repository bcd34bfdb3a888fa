"""dbt's schema.yml to contracts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from treaty.contracts.findings import Place
from treaty.contracts.model import Contract, SchemaObject
from treaty.contracts.reading import read_document
from treaty.contracts.reading.limits import refuse
from treaty.contracts.values import FrozenMap, Json, brief, freeze
from treaty.errors import InvalidDocument
from treaty.formats.assembling import Part, assembled, contract_of
from treaty.formats.carrying import NOTE
from treaty.formats.dbt.columns import Columns
from treaty.formats.flattening import listed, mapping
from treaty.formats.results import UNVERSIONED, Loss, Read

_LOST = {
    "versions": "a contract's version has its own document",
    "time_spine": "a contract does not say how a model is used",
    "freshness": "it is said of the source as it arrives",
}


def read(text: str, name: str) -> Read:
    """Read every model, and every table of a source, as a contract."""
    data = read_document(text, name).data
    reader = Reader(name)
    entries = list(reader.entries(data))
    if not entries:
        raise reader.refuse("there are no models", "list them below 'models:', each with a name and columns")
    parts = [reader.part(entry, prefix) for prefix, entry in entries]
    return Read(assembled(parts, name), tuple(reader.losses))


class Reader:
    """Reads the models of one file."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.losses: list[Loss] = []

    def entries(self, data: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Yield what the file describes: models, seeds and snapshots by name, tables with that of their source."""
        for key in ("models", "seeds", "snapshots"):
            for entry in self._listed(data.get(key), key):
                yield "", entry
        for source in self._listed(data.get("sources"), "sources"):
            for entry in self._listed(source.get("tables"), "tables"):
                yield f"{source['name']}.", entry

    def part(self, entry: Mapping[str, Any], prefix: str = "") -> Part:
        """Read one model as a contract of its own."""
        name = entry["name"]
        columns = Columns(self.source, name)
        config = mapping(entry.get("config"))
        meta = _meta(entry, config)
        fields = columns.fields(entry.get("columns"), entry.get("constraints"), _tests(entry))
        self.losses += columns.losses
        self.losses += [Loss(name, f"{key} {brief(entry[key])}", why) for key, why in _LOST.items() if key in entry]
        own = {key: value for key, value in meta.items() if key != NOTE}
        tags = entry.get("tags", config.get("tags"))
        item = SchemaObject(
            name,
            description=entry.get("description") or None,
            properties=fields,
            custom_properties=tuple(FrozenMap({"property": key, "value": freeze(own[key])}) for key in own) or None,
            more=FrozenMap({"tags": tags} if isinstance(tags, list) and tags else {}),
        )
        version = entry.get("latest_version")
        known = isinstance(version, int) and not isinstance(version, bool) and version > 0
        contract = contract_of(f"{prefix}{name}", item, f"{version}.0.0" if known else UNVERSIONED)
        return Part(_closed(contract, config), meta.get(NOTE))

    def refuse(self, message: str, hint: str) -> InvalidDocument:
        """Return the error for a file that is no schema.yml."""
        return refuse(message, Place(self.source), hint)

    def _listed(self, entries: Json, key: str) -> list[Mapping[str, Any]]:
        for entry in listed(entries):
            if not isinstance(entry, Mapping) or not isinstance(entry.get("name"), str):
                raise self.refuse(f"{brief(entry)!r} below {key!r} has no name", "give it one")
        return listed(entries)


def _closed(contract: Contract, config: Mapping[str, Any]) -> Contract:
    """Take an enforced contract of dbt at its word: the columns are these and no others."""
    told = config.get("contract")
    if not isinstance(told, Mapping) or told.get("enforced") is not True:
        return contract
    return replace(contract, custom_properties=(FrozenMap({"property": "content", "value": "closed"}),))


def _tests(entry: Mapping[str, Any]) -> list[Json]:
    return [*listed(entry.get("data_tests")), *listed(entry.get("tests"))]


def _meta(entry: Mapping[str, Any], config: Mapping[str, Any]) -> dict[str, Json]:
    return {**mapping(entry.get("meta")), **mapping(config.get("meta"))}
