"""Whole documents: ODCS of every version, strict and authored, and the short form."""

from __future__ import annotations

from functools import cache
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from tests.contracts.strategies.blocks import blocks
from tests.contracts.strategies.fields import objects
from tests.contracts.strategies.parts import (
    authoritative_definitions,
    custom_properties,
    roles,
    servers,
    service_levels,
    support,
    tags,
    teams,
)
from tests.contracts.strategies.values import Document, few, mapping, numbers, texts, words
from tests.contracts.strategies.versions import API_VERSIONS, V3_2, open_in_3_0, since

MOST_FIELDS = 8


@cache
def _contract_keys(version: str) -> dict[str, SearchStrategy[Any]]:
    described = {
        **{name: texts() for name in ("usage", "purpose", "limitations", "ownDescription")},
        "customProperties": custom_properties(version),
    }
    priced = {"priceAmount": numbers(), "priceCurrency": texts(), "priceUnit": texts()}
    return {
        **{name: texts() for name in ("name", "tenant", "domain", "dataProduct", "slaDefaultElement")},
        "status": st.sampled_from(("proposed", "draft", "active", "deprecated", "retired", "größe")),
        "description": mapping({}, described),
        "tags": tags(),
        "servers": servers(version),
        "support": support(version),
        "price": mapping({}, {**priced, **open_in_3_0(version)}),
        "team": teams(version),
        "roles": roles(version),
        "slaProperties": service_levels(version),
        "authoritativeDefinitions": authoritative_definitions(version),
        "customProperties": custom_properties(version),
        "contractCreatedTs": st.just("2026-01-03T10:00:00Z"),
        **since(version, V3_2, context=st.one_of(texts(), mapping({}, {"instructions": texts()}))),
    }


@st.composite
def odcs_documents(draw: DrawFn, version: str | None = None, authored: bool = False) -> Document:
    """Valid ODCS documents; authored ones carry Treaty's blocks and field keys plainly."""
    api_version = version or draw(st.sampled_from(API_VERSIONS))
    head = {
        "apiVersion": api_version,
        "kind": "DataContract",
        "id": draw(texts()),
        "version": draw(versions_or_texts()),
    }
    body = draw(mapping({}, _contract_keys(api_version), most=5))
    if api_version != V3_2:
        body.setdefault("status", "active")
    if draw(st.integers(0, 5)):
        body["schema"] = draw(objects(api_version, authored))
    if authored:
        taken = {entry.get("property") for entry in body.get("customProperties", ())}
        free = {name: block for name, block in blocks().items() if name not in taken}
        body |= draw(mapping({}, free, most=4))
    return head | body


def authored_documents(version: str | None = None) -> SearchStrategy[Document]:
    """Valid ODCS documents that carry Treaty's blocks and field keys plainly."""
    return odcs_documents(version, authored=True)


def versions() -> SearchStrategy[str]:
    """Versions as MAJOR.MINOR.PATCH."""
    part = st.integers(0, 20)
    return st.builds("{}.{}.{}".format, part, part, part)


def versions_or_texts() -> SearchStrategy[str]:
    """Versions as ODCS takes them: any text."""
    return st.one_of(versions(), texts())


@st.composite
def short_documents(draw: DrawFn) -> Document:
    """Documents in the short form, some with Treaty's blocks beside it."""
    columns = draw(_short_fields())
    owner = mapping({"team": words()}, {"contact": st.one_of(st.none(), words())})
    sla = mapping(
        {"max_lag_seconds": st.integers(1, 10**12)}, {"measurement": st.sampled_from(("event_time", "größe"))}
    )
    optional = {
        "description": st.one_of(st.none(), texts()),
        "freshness_sla": st.one_of(st.none(), sla),
        "status": st.sampled_from(("draft", "active", "sunset", "retired", "archived")),
        "deprecation_uri": st.one_of(st.none(), words()),
        "primary_key": st.lists(st.sampled_from([field["name"] for field in columns]), unique=True, max_size=3),
    }
    required = {"dataset_id": words(), "version": versions(), "fields": st.just(columns), "owners": few(owner)}
    document = draw(mapping(required, optional, most=5))
    if document.get("deprecation_uri") and draw(st.booleans()):
        document["status"] = "deprecated"
    said = {"owners", "deprecation"} if document.get("deprecation_uri") else {"owners"}
    beside = {name: block for name, block in blocks().items() if name not in said}
    return document | draw(mapping({}, beside, most=2))


@cache
def _short_fields() -> SearchStrategy[list[Any]]:
    values: dict[str, SearchStrategy[Any] | None] = {
        "string": texts(),
        "integer": st.integers(-9, 9),
        "number": st.floats(-9, 9),
        "boolean": st.booleans(),
        "timestamp": None,
        "json": None,
    }
    said = {"required": st.booleans(), "description": st.one_of(st.none(), texts()), "deprecated": st.booleans()}

    def field(kind: str) -> SearchStrategy[Document]:
        value = values[kind]
        several = None if value is None else st.lists(value, min_size=1, max_size=3, unique=True)
        enum = {} if several is None else {"enum": st.one_of(st.none(), several)}
        return mapping({"name": words(), "type": st.just(kind)}, {**said, **enum})

    every = st.one_of([field(kind) for kind in values])
    return st.lists(every, min_size=1, max_size=MOST_FIELDS, unique_by=lambda one: str(one["name"]))


def documents() -> SearchStrategy[Document]:
    """Documents of every form and version."""
    return st.one_of(odcs_documents(), authored_documents(), short_documents())
