"""The page where a contract is judged before it is registered; nothing that is pasted there is kept."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from markupsafe import Markup, escape

from treaty.catalog import links
from treaty.catalog.pages.check_result import CheckResult, InvalidSubmission, check_document, explain_invalid
from treaty.catalog.rendering import Page
from treaty.catalog.source import Source
from treaty.compatibility import Grading, Mode
from treaty.contracts.text.writer import write_yaml
from treaty.errors import InvalidDocument
from treaty.registry.documents import YAML
from treaty.registry.model import ContractAnswer
from treaty.registry.model.contract_answers import Query

_OFFERED = 8
_LOOKED_AT = 100
_MODES = {
    Mode.BACKWARD: "backward: tomorrow's readers can read today's data",
    Mode.FORWARD: "forward: today's readers can read tomorrow's data",
    Mode.FULL: "full: both ways",
    Mode.BACKWARD_TRANSITIVE: "backward, against every earlier version",
    Mode.FORWARD_TRANSITIVE: "forward, against every earlier version",
    Mode.FULL_TRANSITIVE: "full, against every earlier version",
    Mode.NONE: "none: nothing is protected",
}


@dataclass(frozen=True)
class Submission:
    """What somebody pasted or uploaded, and the mode they ask for."""

    content: bytes
    mode: str | None = None


def check_page(source: Source, contract: str | None = None, version: str | None = None) -> Page:
    """Return the empty page, or one with a registered contract to try something on."""
    return _page(source, _text_of(source, contract, version) if contract else "", None, None, contract=contract)


def check_result_page(source: Source, handed: Submission, grading: Grading, today: date) -> Page:
    """Return the page with the verdict on what was handed over, or with why it cannot be read."""
    text = handed.content.decode("utf-8", "replace").removeprefix("\ufeff").replace("\r\n", "\n")
    try:
        found: CheckResult | InvalidSubmission = check_document(source, handed.content, handed.mode, grading, today)
    except InvalidDocument as error:
        found = explain_invalid(error, text)
    status = 422 if isinstance(found, InvalidSubmission) else 200
    return _page(source, text, handed.mode, found, status)


def _page(
    source: Source,
    text: str,
    mode: str | None,
    found: CheckResult | InvalidSubmission | None,
    status: int = 200,
    contract: str | None = None,
) -> Page:
    return Page(
        links.check(),
        "check.html",
        "Check a contract",
        "check",
        {
            "text": Markup(escape(text)),  # exactly what was pasted: it is edited and sent again  # noqa: S704
            "mode": mode,
            "modes": tuple((one.value, words) for one, words in _MODES.items()),
            "judged": found if isinstance(found, CheckResult) else None,
            "unreadable": found if isinstance(found, InvalidSubmission) else None,
            "offered": [] if found or contract else _offered(source),
            "contract": contract,
        },
        ("check.css", "check.js"),
        status,
    )


def _offered(source: Source) -> list[ContractAnswer]:
    """Return a few contracts to try something on, those that most consumers read first."""
    found = source.search(Query(), limit=_LOOKED_AT).items
    return sorted(found, key=lambda one: -one.consumers)[:_OFFERED]


def _text_of(source: Source, contract: str, version: str | None) -> str:
    """Return a registered contract as somebody would edit it."""
    meant = version or source.lines(contract)[0].latest
    content, media = source.given(contract, meant)
    return content.decode() if media == YAML else write_yaml(source.get(contract, meant).document)
