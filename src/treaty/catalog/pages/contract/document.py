"""The document of a contract, in the form one needs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from treaty.catalog import links
from treaty.catalog.pages.contract.contract_data import ContractData, load_contract_data, parse_contract
from treaty.catalog.pages.contract.heading import heading_of
from treaty.catalog.pages.contract.overview import ASSETS
from treaty.catalog.rendering import Page
from treaty.catalog.source import Source
from treaty.compatibility import describe
from treaty.compatibility.diff import conversion_losses
from treaty.contracts.loader import contract_from
from treaty.contracts.model import Contract
from treaty.contracts.odcs import BlockStyle, with_plain_blocks, write_odcs
from treaty.contracts.short_form import write_short_form
from treaty.contracts.text.writer import write_json, write_yaml
from treaty.contracts.values import Json
from treaty.errors import InvalidDocument, NotFound, Refused, Unavailable
from treaty.formats import get_format
from treaty.registry.client.requests import version_path

_SHOWN_LOSSES = 200


def document_page(source: Source, name: str, form: str, *, dossier: ContractData | None = None) -> Page:
    """Return the document of the highest version in one form."""
    chosen = next((one for one in FORMS if one.key == form), None)
    if chosen is None:
        raise NotFound(f"no form {form[:40]!r} of documents; there are: {', '.join(one.key for one in FORMS)}")
    known = dossier or load_contract_data(source, name)
    shown = known.highest
    written = written_in(chosen, parse_contract(shown))
    return Page(
        links.document(name, form),
        "contract/document.html",
        f"{name[:120]} {shown.version} as {chosen.label}",
        "contracts",
        {
            "heading": heading_of(known, shown, "document"),
            "forms": FORMS,
            "form": chosen,
            "written": written,
            "losses": written.losses[:_SHOWN_LOSSES],
            "more_losses": max(len(written.losses) - _SHOWN_LOSSES, 0),
            "as_given": version_path(name, shown.version, "document"),
        },
        assets=ASSETS,
    )


Told: TypeAlias = tuple[str, tuple[str, ...]]
"""A text, and what it leaves out."""


@dataclass(frozen=True)
class DocumentForm:
    """One form of the document: what it is, and how it is written."""

    key: str
    label: str
    about: str
    write: Callable[[Contract], Told]


@dataclass(frozen=True, slots=True)
class Written:
    """A contract in one form, what it leaves out, or why it cannot be written."""

    text: str | None
    losses: tuple[str, ...] = ()
    impossible: str | None = None


def written_in(form: DocumentForm, contract: Contract) -> Written:
    """Write a contract in a form, as far as that goes."""
    try:
        text, lost = form.write(contract)
    except (InvalidDocument, Refused, Unavailable) as error:
        return Written(None, impossible=str(error))
    return Written(text, lost)


def _odcs(contract: Contract) -> dict[str, Json]:
    return write_odcs(with_plain_blocks(contract), BlockStyle.PLAIN)


def _short(contract: Contract) -> Told:
    document = write_short_form(contract)
    if not document["fields"]:
        raise InvalidDocument("the short form needs at least one field, and this contract has none")
    lost = conversion_losses(contract, contract_from(document, "the short form"))
    return write_yaml(document), tuple(describe(change) for change in lost)


def _foreign(name: str, dialect: str | None = None) -> Callable[[Contract], Told]:
    def write(contract: Contract) -> Told:
        written = get_format(name).write(contract, dialect=dialect)
        return written.text, tuple(str(loss) for loss in written.losses)

    return write


FORMS: tuple[DocumentForm, ...] = (
    DocumentForm(
        "odcs",
        "ODCS (YAML)",
        "The Open Data Contract Standard: everything the contract says.",
        lambda contract: (write_yaml(_odcs(contract)), ()),
    ),
    DocumentForm("short", "Short form (YAML)", "One flat dataset in a few keys.", _short),
    DocumentForm("spark", "Spark (JSON)", "A StructType, as StructType.fromJson reads it.", _foreign("spark")),
    DocumentForm("ddl", "Spark (DDL)", "CREATE TABLE, as Spark SQL reads it.", _foreign("sql", "spark")),
    DocumentForm(
        "json",
        "JSON",
        "The same as ODCS, for programs.",
        lambda contract: (write_json(_odcs(contract)), ()),
    ),
)
"""In the order in which they are offered."""
