"""The parts of an ODCS document that stand beside its schema."""

from __future__ import annotations

from functools import cache
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from tests.contracts.strategies.values import (
    Document,
    dates,
    few,
    identifiers,
    json_values,
    mapping,
    scalars,
    texts,
    words,
)
from tests.contracts.strategies.versions import V3_0, V3_1, V3_2, open_in_3_0, since

SERVICE_LEVELS = ("freshness", "latency", "availability", "retention", "frequency", "errorRate")
UNITS = ("s", "min", "h", "hours", "d", "days", "months", "y", "%", "percent", "rows")


@cache
def custom_properties(version: str) -> SearchStrategy[list[Document]]:
    """Custom properties, some named as Treaty's own but of another shape."""
    names = st.one_of(words(), texts(), st.sampled_from(("tier", "delivery", "unit", "owners", "dataSteward")))
    required = {} if version == V3_0 else {"property": names, "value": json_values()}
    optional = {
        **({"property": names, "value": json_values()} if version == V3_0 else {}),
        **since(version, V3_1, id=identifiers(), description=texts()),
        **since(version, V3_2, vendor=texts()),
        **open_in_3_0(version),
    }
    return few(mapping(required, optional), 3)


@cache
def authoritative_definitions(version: str) -> SearchStrategy[list[Document]]:
    """Links to where something is defined."""
    urls = st.sampled_from(("https://example.org/orders", "https://example.org/größe", ""))
    kinds = st.sampled_from(("businessDefinition", "implementation", "tutorial"))
    optional = since(version, V3_1, id=identifiers(), description=texts()) | open_in_3_0(version)
    return few(mapping({"url": urls, "type": kinds}, optional))


def tags() -> SearchStrategy[list[str]]:
    """Tags of anything."""
    return few(texts())


@cache
def service_levels(version: str) -> SearchStrategy[list[Document]]:
    """Service levels with values of any kind."""
    values = st.one_of(st.integers(0, 999), st.sampled_from(("4h", "PT4H", "99.9 %", "2026-01-03")), scalars())
    optional = {
        "unit": st.sampled_from(UNITS),
        "element": texts(),
        "driver": st.sampled_from(("regulatory", "analytics", "operational")),
        "valueExt": scalars(),
        **since(version, V3_1, id=identifiers(), description=texts(), schedule=texts(), scheduler=texts()),
        **since(version, V3_2, customProperties=custom_properties(version)),
        **open_in_3_0(version),
    }
    return few(mapping({"property": st.one_of(st.sampled_from(SERVICE_LEVELS), texts()), "value": values}, optional))


@cache
def teams(version: str) -> SearchStrategy[Any]:
    """Teams: a list of members in every version, an object since 3.1."""
    about = {name: texts() for name in ("name", "description", "role", "replacedByUsername")}
    about |= {"dateIn": dates(), "dateOut": dates()}
    if version == V3_0:
        return few(mapping({}, {**about, "username": texts(), **open_in_3_0(version)}))
    more = {"tags": tags(), "customProperties": custom_properties(version), "id": identifiers()}
    members = few(mapping({"username": texts()}, {**about, **more}))
    team = mapping({}, {"name": texts(), "description": texts(), "members": members, **more})
    return st.one_of(members, team)


@cache
def support(version: str) -> SearchStrategy[list[Document]]:
    """Support channels."""
    required = {"channel": texts()} | ({"url": texts()} if version == V3_0 else {})
    optional = {name: texts() for name in ("url", "description", "tool", "scope", "invitationUrl")}
    optional |= since(version, V3_1, id=identifiers(), customProperties=custom_properties(version))
    return few(mapping(required, {**optional, **open_in_3_0(version)}))


@cache
def roles(version: str) -> SearchStrategy[list[Document]]:
    """Roles that give access."""
    optional = {name: texts() for name in ("description", "access", "firstLevelApprovers", "secondLevelApprovers")}
    more = {"customProperties": custom_properties(version), **open_in_3_0(version)}
    return few(mapping({"role": texts()}, {**optional, **more}))


_SERVERS: dict[str, tuple[str, ...]] = {
    "api": ("location",),
    "bigquery": ("project", "dataset"),
    "databricks": ("catalog", "schema"),
    "kafka": ("host",),
    "local": ("path", "format"),
    "postgres": ("host", "port", "database", "schema"),
    "s3": ("location",),
    "snowflake": ("account", "database", "schema"),
    "custom": (),
}


@cache
def servers(version: str) -> SearchStrategy[list[Document]]:
    """Servers of a few types, each with what its type asks for."""
    optional = {
        "description": texts(),
        "environment": texts(),
        "roles": roles(version),
        "customProperties": custom_properties(version),
        **open_in_3_0(version),
    }

    def server(kind: str) -> SearchStrategy[Document]:
        needed = {name: st.integers(1, 65_535) if name == "port" else texts() for name in _SERVERS[kind]}
        return mapping({"server": words(), "type": st.just(kind), **needed}, optional)

    return few(st.one_of([server(kind) for kind in _SERVERS]))
