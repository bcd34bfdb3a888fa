"""The names of a contract's datasets in OpenLineage, from its ODCS servers.

OpenLineage identifies a dataset by a namespace, such as `postgres://db.example.org:5432`, and a name in it, such as
`shop.public.orders`. The rows of `_DATABASES` follow its naming conventions; a test compares them with the classes of
`openlineage-python`, which are not imported here, because that would take half a second of every registration.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from treaty.contracts.model import Contract, SchemaObject

NAMESPACE_PROPERTY = "openlineageNamespace"
NAME_PROPERTY = "openlineageName"
"""Custom properties of a server that state the namespace, and the name, of its datasets."""

TREATY_NAMESPACE = "treaty"
"""The namespace in which the name of a dataset is a line, such as `orders@1`, or a contract."""


class DatasetName(NamedTuple):
    """The identity of a dataset in OpenLineage."""

    namespace: str
    name: str


@dataclass(frozen=True)
class NamedDataset:
    """A dataset of a contract; `object` is set if the contract has several schema objects."""

    dataset: DatasetName
    object: str | None = None


class _Naming(NamedTuple):
    """How the datasets of a type of database are named: the namespace, the parts before the table, the port."""

    namespace: str
    parts: tuple[str, ...]
    port: int | None = None


_HOST = "{host}:{port}"
_DATABASES: Mapping[str, _Naming] = {
    "athena": _Naming("awsathena://athena.{regionName}.amazonaws.com", ("catalog", "schema")),
    "bigquery": _Naming("bigquery", ("project", "dataset")),
    "db2": _Naming(f"db2://{_HOST}", ("database", "schema"), 50000),
    "hive": _Naming(f"hive://{_HOST}", ("database",), 10000),
    "kafka": _Naming(f"kafka://{_HOST}", (), 9092),
    "mysql": _Naming(f"mysql://{_HOST}", ("database",), 3306),
    "oracle": _Naming(f"oracle://{_HOST}", ("serviceName", "schema"), 1521),
    "postgres": _Naming(f"postgres://{_HOST}", ("database", "schema"), 5432),
    "postgresql": _Naming(f"postgres://{_HOST}", ("database", "schema"), 5432),
    "redshift": _Naming("redshift://{account}.{region}:{port}", ("database", "schema"), 5439),
    "snowflake": _Naming("snowflake://{account}", ("database", "schema")),
    "sqlserver": _Naming(f"mssql://{_HOST}", ("database", "schema"), 1433),
    "trino": _Naming(f"trino://{_HOST}", ("catalog", "schema"), 8080),
}
_DEFAULTS = {"catalog": "AwsDataCatalog", "schema": "public"}
"""Values that a server may leave out."""

_PLACEHOLDER = re.compile(r"\{(\w+)\}")
_OBJECT_PLACEHOLDERS = ("{model}", "{object}", "{schema}")


def dataset_names(contract: Contract) -> tuple[NamedDataset, ...]:
    """Return the datasets of a contract on its servers; a server that does not say enough has none."""
    several = len(contract.schema) > 1
    names = [
        NamedDataset(dataset, item.name if several else None)
        for server in contract.servers or ()
        for item in contract.schema
        for dataset in _names_on(server, item)
    ]
    return tuple(dict.fromkeys(names))


def _names_on(server: Mapping[str, Any], item: SchemaObject) -> Iterator[DatasetName]:
    table = item.physical_name or item.name
    stated = {entry.get("property"): entry.get("value") for entry in server.get("customProperties") or ()}
    if namespace := stated.get(NAMESPACE_PROPERTY):
        yield DatasetName(str(namespace), str(stated.get(NAME_PROPERTY) or table))
        return
    kind = str(server.get("type", "")).lower()
    if (naming := _DATABASES.get(kind)) is not None:
        if (dataset := _table_name(naming, server, table)) is not None:
            yield dataset
    elif (place := server.get("location") or server.get("path")) and isinstance(place, str):
        yield file_dataset(_fill_in_object(place, item.name))


def _table_name(naming: _Naming, server: Mapping[str, Any], table: str) -> DatasetName | None:
    values = {**_DEFAULTS, "port": naming.port, **{key: value for key, value in server.items() if value is not None}}
    host, _, port = str(values.get("host", "")).partition(",")[0].partition(":")
    values["host"] = host.lower()
    values["port"] = port or values["port"]
    given = table.split(".")
    kept = naming.parts[: max(0, len(naming.parts) + 1 - len(given))]  # a qualified table states the rest itself
    needed = {*_PLACEHOLDER.findall(naming.namespace), *kept}
    if any(not values.get(key) for key in needed):
        return None
    parts = [str(values[key]) for key in kept]
    return DatasetName(naming.namespace.format_map(values), ".".join([*parts, *given]))


def file_dataset(location: str) -> DatasetName:
    """Return the dataset of a file or folder, by its URL or path; patterns end where the first wildcard starts."""
    address = urlsplit(location)
    path = _without_wildcards(address.path)
    if not address.netloc:
        return DatasetName("file", path.rstrip("/") or "/")
    scheme = {"s3a": "s3", "s3n": "s3"}.get(address.scheme, address.scheme)
    return DatasetName(f"{scheme}://{address.netloc}", path.strip("/") or "/")


def _without_wildcards(path: str) -> str:
    parts = path.split("/")
    end = next((place for place, part in enumerate(parts) if any(mark in part for mark in "*?[{")), len(parts))
    return "/".join(parts[:end])


def _fill_in_object(location: str, name: str) -> str:
    for placeholder in _OBJECT_PLACEHOLDERS:
        location = location.replace(placeholder, name)
    return location
