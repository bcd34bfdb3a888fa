"""The page that checks a contract before it is registered. Submissions are not stored."""

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

_MAX_EXAMPLES = 8
_EXAMPLE_CANDIDATES = 100
_MODES = {
    Mode.BACKWARD: "Backward: new consumers can read old data",
    Mode.FORWARD: "Forward: existing consumers can read new data",
    Mode.FULL: "Full: backward and forward",
    Mode.BACKWARD_TRANSITIVE: "Backward, against all earlier versions",
    Mode.FORWARD_TRANSITIVE: "Forward, against all earlier versions",
    Mode.FULL_TRANSITIVE: "Full, against all earlier versions",
    Mode.NONE: "None: no compatibility check",
}


@dataclass(frozen=True)
class Submission:
    """A pasted or uploaded contract and the compatibility mode."""

    content: bytes
    mode: str | None = None


def check_page(source: Source, contract: str | None = None, version: str | None = None) -> Page:
    """Return the empty form, or the form filled with a registered contract."""
    return _page(source, _document_text(source, contract, version) if contract else "", None, None, contract=contract)


def check_result_page(source: Source, submission: Submission, grading: Grading, today: date) -> Page:
    """Return the form with the result of the check, or with the reasons why the document is invalid."""
    text = submission.content.decode("utf-8", "replace").removeprefix("\ufeff").replace("\r\n", "\n")
    try:
        result: CheckResult | InvalidSubmission = check_document(
            source, submission.content, submission.mode, grading, today
        )
    except InvalidDocument as error:
        result = explain_invalid(error, text)
    status = 422 if isinstance(result, InvalidSubmission) else 200
    return _page(source, text, submission.mode, result, status)


def _page(
    source: Source,
    text: str,
    mode: str | None,
    result: CheckResult | InvalidSubmission | None,
    status: int = 200,
    contract: str | None = None,
) -> Page:
    return Page(
        links.check(),
        "check.html",
        "Check a contract",
        "check",
        {
            "text": Markup(escape(text)),  # unchanged, because users edit and submit it again  # noqa: S704
            "mode": mode,
            "modes": tuple((mode.value, label) for mode, label in _MODES.items()),
            "result": result if isinstance(result, CheckResult) else None,
            "invalid": result if isinstance(result, InvalidSubmission) else None,
            "examples": [] if result or contract else _examples(source),
            "contract": contract,
        },
        ("check.css", "check.js"),
        status,
    )


def _examples(source: Source) -> list[ContractAnswer]:
    """Return a few contracts to try, most consumers first."""
    contracts = source.search(Query(), limit=_EXAMPLE_CANDIDATES).items
    return sorted(contracts, key=lambda contract: -contract.consumers)[:_MAX_EXAMPLES]


def _document_text(source: Source, contract: str, version: str | None) -> str:
    """Return a registered contract as YAML."""
    number = version or source.lines(contract)[0].latest
    content, media = source.given(contract, number)
    return content.decode() if media == YAML else write_yaml(source.get(contract, number).document)
