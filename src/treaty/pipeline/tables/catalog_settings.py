"""Spark's settings of an Iceberg catalog, translated for PyIceberg, so that both open the same tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from urllib.parse import quote

from treaty.errors import InvalidDocument, Unavailable

_JDBC = "jdbc:"
_SQLITE = "jdbc:sqlite:"
_POSTGRESQL = "jdbc:postgresql:"
_SQLITE_TIMEOUT_S = 30


def catalog_properties(name: str, conf: Mapping[str, str]) -> dict[str, str]:
    """Return the properties with which PyIceberg opens the catalog that Spark's settings name."""
    at = f"spark.sql.catalog.{name}."
    spark = {key.removeprefix(at): value for key, value in conf.items() if key.startswith(at)}
    kind = spark.get("type", "")
    if kind not in _KINDS:
        configured = f"is of type {kind!r}" if kind else "is not configured"
        raise Unavailable(
            f"the catalog {name} {configured}; set spark.iceberg.uri and spark.iceberg.warehouse, or "
            f"{at}type to one of: {', '.join(_KINDS)}"
        )
    return _KINDS[kind](spark)


def _jdbc(spark: Mapping[str, str]) -> dict[str, str]:
    """Translate a JDBC catalog: the same database, addressed as SQLAlchemy does."""
    return {
        "type": "sql",
        "uri": _database_url(spark.get("uri", ""), spark.get("jdbc.user"), spark.get("jdbc.password")),
        "schema_version": "v1",  # with views, as Spark creates it
        "pool_pre_ping": "true",
        **_warehouse(spark.get("warehouse")),
        **_storage(spark),
    }


def _rest(spark: Mapping[str, str]) -> dict[str, str]:
    """Pass the properties of a REST catalog on: they have the same names."""
    others = {key: value for key, value in spark.items() if key not in ("type", "cache-enabled")}
    return {"type": "rest", **others}


_KINDS: Mapping[str, Callable[[Mapping[str, str]], dict[str, str]]] = {"jdbc": _jdbc, "rest": _rest}
"""The translation for each type of catalog."""


def _database_url(uri: str, user: str | None, password: str | None) -> str:
    if uri.startswith(_SQLITE):
        path = Path(uri.removeprefix(_SQLITE).partition("?")[0]).absolute()
        return f"sqlite:///{path}?timeout={_SQLITE_TIMEOUT_S}"
    if uri.startswith(_POSTGRESQL):
        address = uri.removeprefix(_JDBC).partition("://")[2]
        login = "".join((quote(user, ""), f":{quote(password, '')}" if password else "", "@")) if user else ""
        return f"postgresql+psycopg://{login}{address}"
    raise InvalidDocument(
        f"the catalog database {uri.partition('?')[0]} is not supported; use jdbc:sqlite:… or jdbc:postgresql:…"
    )


def _warehouse(place: str | None) -> dict[str, str]:
    if place is None:
        return {}
    is_url = "://" in place or place.startswith("file:")
    return {"warehouse": place.rstrip("/") if is_url else f"file://{Path(place).absolute()}"}


_STORAGE = {
    "s3.endpoint": "s3.endpoint",
    "s3.access-key-id": "s3.access-key-id",
    "s3.secret-access-key": "s3.secret-access-key",
    "s3.path-style-access": "s3.path-style-access",
    "client.region": "s3.region",
}
"""Properties of object stores that both know, by Spark's name."""


def _storage(spark: Mapping[str, str]) -> dict[str, str]:
    return {name: spark[key] for key, name in _STORAGE.items() if key in spark}
