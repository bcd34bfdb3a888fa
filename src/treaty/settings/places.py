"""Files that the project file names, found from where it stands, wherever a command runs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from treaty.settings.parts import Catalog, Iceberg, Parts, Pipeline, Spark

_SQLITE = "jdbc:sqlite:"


def beside(parts: Parts, folder: Path) -> Parts:
    """Return the parts with every relative file below a folder."""
    return replace(
        parts,
        registry=_below(folder, parts.registry),
        catalog=_catalog(parts.catalog, folder),
        spark=_spark(parts.spark, folder),
        pipeline=_pipeline(parts.pipeline, folder),
    )


def _catalog(part: Catalog, folder: Path) -> Catalog:
    return replace(part, publish=part.publish and _below(folder, part.publish))


def _pipeline(part: Pipeline, folder: Path) -> Pipeline:
    return replace(part, contracts=tuple(_below(folder, one) for one in part.contracts))


def _spark(part: Spark, folder: Path) -> Spark:
    return replace(
        part,
        jars=part.jars and _below(folder, part.jars),
        ivy_settings=part.ivy_settings and _below(folder, part.ivy_settings),
        log=part.log and _below(folder, part.log),
        iceberg=_iceberg(part.iceberg, folder),
    )


def _iceberg(part: Iceberg, folder: Path) -> Iceberg:
    uri = part.uri
    if uri is not None and uri.startswith(_SQLITE):
        uri = _SQLITE + _below(folder, uri.removeprefix(_SQLITE))
    return replace(part, uri=uri, warehouse=part.warehouse and _below(folder, part.warehouse))


def _below(folder: Path, text: str) -> str:
    return text if "://" in text or text.startswith("~") else str(folder / text)
