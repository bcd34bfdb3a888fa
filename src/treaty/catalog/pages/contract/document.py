"""The document of a contract in several formats."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from treaty.catalog import links
from treaty.catalog.pages.contract.contract_data import ContractData, heading_of, load_contract_data, parse_contract
from treaty.catalog.pages.contract.overview import ASSETS
from treaty.catalog.rendering import Page
from treaty.catalog.source import Source
from treaty.compatibility import describe
from treaty.compatibility.diff import conversion_losses
from treaty.contracts.loader import contract_from
from treaty.contracts.model import Contract
from treaty.contracts.odcs import BlockStyle, export_odcs, with_plain_blocks
from treaty.contracts.short_form import write_short_form
from treaty.contracts.text.writer import write_json, write_yaml
from treaty.contracts.values import Json
from treaty.errors import InvalidDocument, NotFound, Refused, Unavailable
from treaty.formats import get_format
from treaty.registry.client.requests import version_path

_MAX_LOSSES = 200


def document_page(source: Source, name: str, format_key: str, *, data: ContractData | None = None) -> Page:
    """Return the document of the highest version in one format."""
    chosen = next((format_ for format_ in DOCUMENT_FORMATS if format_.key == format_key), None)
    if chosen is None:
        raise NotFound(
            f"no document format {format_key[:40]!r}; "
            f"available: {', '.join(format_.key for format_ in DOCUMENT_FORMATS)}"
        )
    data = data or load_contract_data(source, name)
    version = data.highest
    written = write_as(chosen, parse_contract(version))
    return Page(
        links.document(name, format_key),
        "contract/document.html",
        f"{name[:120]} {version.version} as {chosen.label}",
        "contracts",
        {
            "heading": heading_of(data, version, "document"),
            "formats": DOCUMENT_FORMATS,
            "format": chosen,
            "written": written,
            "losses": written.losses[:_MAX_LOSSES],
            "more_losses": max(len(written.losses) - _MAX_LOSSES, 0),
            "download_path": version_path(name, version.version, "document"),
        },
        assets=ASSETS,
    )


TextAndLosses: TypeAlias = tuple[str, tuple[str, ...]]
"""A document and the terms that it cannot express."""


@dataclass(frozen=True)
class DocumentFormat:
    """A document format and its writer."""

    key: str
    label: str
    description: str
    write: Callable[[Contract], TextAndLosses]


@dataclass(frozen=True, slots=True)
class WrittenDocument:
    """A contract in one format with the terms it cannot express, or the reason why it cannot be written."""

    text: str | None
    losses: tuple[str, ...] = ()
    problem: str | None = None


def write_as(fmt: DocumentFormat, contract: Contract) -> WrittenDocument:
    """Write a contract in a format."""
    try:
        text, lost = fmt.write(contract)
    except (InvalidDocument, Refused, Unavailable) as error:
        return WrittenDocument(None, problem=str(error))
    return WrittenDocument(text, lost)


def _odcs(contract: Contract) -> dict[str, Json]:
    return export_odcs(with_plain_blocks(contract), BlockStyle.PLAIN)


def _short(contract: Contract) -> TextAndLosses:
    document = write_short_form(contract)
    if not document["fields"]:
        raise InvalidDocument("the short form needs at least one field")
    lost = conversion_losses(contract, contract_from(document, "the short form"))
    return write_yaml(document), tuple(describe(change) for change in lost)


def _foreign(name: str, dialect: str | None = None) -> Callable[[Contract], TextAndLosses]:
    def write(contract: Contract) -> TextAndLosses:
        written = get_format(name).write(contract, dialect=dialect)
        return written.text, tuple(str(loss) for loss in written.losses)

    return write


DOCUMENT_FORMATS: tuple[DocumentFormat, ...] = (
    DocumentFormat(
        "odcs",
        "ODCS (YAML)",
        "Open Data Contract Standard, the full contract.",
        lambda contract: (write_yaml(_odcs(contract)), ()),
    ),
    DocumentFormat("short", "Short form (YAML)", "A flat schema with few keys.", _short),
    DocumentFormat("spark", "Spark (JSON)", "A schema for StructType.fromJson.", _foreign("spark")),
    DocumentFormat("ddl", "Spark (DDL)", "CREATE TABLE for Spark SQL.", _foreign("sql", "spark")),
    DocumentFormat(
        "json",
        "JSON",
        "ODCS as JSON.",
        lambda contract: (write_json(_odcs(contract)), ()),
    ),
)
"""All formats, in the order of the page."""
