"""The document of a contract, in the form one needs."""

from __future__ import annotations

from treaty.catalog import places
from treaty.catalog.pages.contract.dossier import Dossier, contract_of, dossier_of
from treaty.catalog.pages.contract.forms import FORMS, written_in
from treaty.catalog.pages.contract.heading import heading_of
from treaty.catalog.pages.contract.overview import ASSETS
from treaty.catalog.rendering import Page
from treaty.catalog.sources import Source
from treaty.errors import NotFound
from treaty.registry.client.addresses import version_path

_SHOWN_LOSSES = 200


def document_page(source: Source, name: str, form: str, *, dossier: Dossier | None = None) -> Page:
    """Return the document of the highest version in one form."""
    chosen = next((one for one in FORMS if one.key == form), None)
    if chosen is None:
        raise NotFound(f"no form {form[:40]!r} of documents; there are: {', '.join(one.key for one in FORMS)}")
    known = dossier or dossier_of(source, name)
    shown = known.highest
    written = written_in(chosen, contract_of(shown))
    return Page(
        places.document(name, form),
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
