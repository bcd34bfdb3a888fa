"""`treaty search`, `show`, `version history` and lifecycle steps."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.cli.conftest import Treaty, Write
from tests.cli.order_contracts import CITY, ID, V1, V1_WITH_CITY, V2
from treaty.contracts.text import read_document
from treaty.registry.model import StepAnswer
from treaty.registry.service import Registry

PLAN = ("--plan", "https://example.com/plan")


@pytest.fixture(autouse=True)
def registered(treaty: Treaty, write: Write) -> None:
    """Orders in two versions and two lines, and returns as a draft."""
    write("all/a.yaml", V1)
    write("all/b.yaml", V1_WITH_CITY)
    write("all/c.yaml", V2)
    write("all/d.yaml", {"id": "returns", "status": "draft", "fields": [ID, CITY], "domain": "logistics"})
    assert treaty("register", "all").code == 0


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        ((), ["orders", "returns"]),
        (("order",), ["orders", "returns"]),
        (("--name", "ret"), ["returns"]),
        (("--field", "city"), ["orders", "returns"]),  # line 1 of orders, still in use, has it too
        (("--domain", "logistics"), ["returns"]),
        (("--owner", "checkout", "--name", "ret"), ["returns"]),
        (("--tag", "gold"), []),
    ],
)
def test_a_search_finds_by_every_part_that_is_given(
    treaty: Treaty, arguments: tuple[str, ...], found: list[str]
) -> None:
    page = json.loads(treaty("search", *arguments, "--format", "json").output)

    assert [one["id"] for one in page["items"]] == found
    assert page["next"] is None


def test_search_without_matches(treaty: Treaty) -> None:
    result = treaty("search", "nothing-like-this")

    assert (result.code, result.output) == (0, "no matching contracts\n")


def test_a_long_list_says_how_to_go_on(treaty: Treaty) -> None:
    first = json.loads(treaty("version", "history", "orders", "--limit", "2", "--format", "json").output)
    said = treaty("version", "history", "orders", "--limit", "2").output
    rest = json.loads(treaty("version", "history", "orders", "--cursor", first["next"], "--format", "json").output)
    everything = json.loads(treaty("version", "history", "orders", "--all", "--format", "json").output)

    assert f"add --cursor {first['next']}, or --all" in said
    assert [one["version"] for one in first["items"]] == ["1.0.0", "1.1.0"]
    assert [one["version"] for one in rest["items"]] == ["2.0.0"]
    assert len(everything["items"]) == 3
    assert everything["next"] is None


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("--limit", "0"), 2, "range"),
        (("--cursor", "nonsense"), 1, "the cursor is not valid"),
        (("--cursor", "WzJd", "--all"), 2, "exclude each other"),
    ],
)
def test_a_wrong_page_is_one_clear_error(treaty: Treaty, arguments: tuple[str, ...], code: int, said: str) -> None:
    result = treaty("version", "history", "orders", *arguments)

    assert result.code == code
    assert said in " ".join(result.errors.split())


def test_contract_is_shown_with_its_context(treaty: Treaty) -> None:
    treaty("consumer", "subscribe", "ledger", "orders@1", "--class", "external_regulatory", "--field", "total")

    output = treaty("show", "orders@1").output

    for said in ("orders  1.1.0  active", "checkout  #checkout", "@1", "@2", "ledger", "What is paid, tax included."):
        assert said in output


@pytest.mark.parametrize(
    ("arguments", "version"),
    [
        (("orders",), "2.0.0"),
        (("orders@1",), "1.1.0"),
        (("orders", "1.0.0"), "1.0.0"),
        (("orders@1", "1.0.0"), "1.0.0"),
        (("returns",), "1.0.0"),
    ],
)
def test_the_version_that_is_meant_is_shown(treaty: Treaty, arguments: tuple[str, ...], version: str) -> None:
    shown = json.loads(treaty("show", *arguments, "--format", "json").output)

    assert shown["version"] == version
    assert shown["document"]["version"] == version
    assert {"lines", "subscriptions", "status", "owners"} <= shown.keys()


def test_a_document_is_printed_in_a_form_or_as_it_was_given(treaty: Treaty, tmp_path: Path) -> None:
    given = treaty("show", "orders", "1.0.0", "--as", "given").output
    odcs = read_document(treaty("show", "orders", "1.0.0", "--as", "odcs").output).data
    short = json.loads(treaty("show", "orders", "1.0.0", "--as", "short", "--format", "json").output)

    assert given == (tmp_path / "all" / "a.yaml").read_text()
    assert (odcs["kind"], odcs["id"]) == ("DataContract", "orders")
    assert (short["dataset_id"], short["fields"][1]["name"]) == ("orders", "total")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("show", "nothing"), "nothing"),
        (("show", "orders", "9.9.9"), "9.9.9"),
        (("show", "orders@7"), "no line orders@7 is registered; the lines are: orders@2, orders@1"),
        (("version", "history", "nothing"), "nothing"),
        (("version", "activate", "orders", "9.9.9"), "9.9.9"),
        (("version", "deprecate", "nothing@1", *PLAN), "no line nothing@1 is registered"),
        (("version", "deprecate", "orders", *PLAN), "'orders' is not a line; write it like orders@1"),
        (("version", "archive", "nothing", "1.0.0"), "nothing"),
        (("can-i-retire", "orders"), "'orders' is not a line; write it like orders@1"),
        (("can-i-retire", "orders@9"), "no line orders@9 is registered"),
    ],
)
def test_what_is_not_there_is_one_clear_error(treaty: Treaty, arguments: tuple[str, ...], said: str) -> None:
    result = treaty(*arguments)

    assert result.code == 1
    assert result.errors.startswith("error: ")
    assert said in result.errors
    assert "Traceback" not in result.errors


def test_a_draft_is_activated(treaty: Treaty) -> None:
    assert treaty("version", "activate", "returns", "1.0.0").output == "returns 1.0.0 is active\n"


def test_a_line_is_deprecated_with_its_days(treaty: Treaty) -> None:
    today = datetime.now(UTC).date()

    result = treaty("version", "deprecate", "orders@1", *PLAN)

    assert result.code == 0
    assert result.output.count(f"sunset on {today + timedelta(days=30)}") == 2
    shown = treaty("show", "orders@1").output
    assert "https://example.com/plan" in shown
    assert "deprecated" in shown


def test_one_version_is_deprecated_until_a_day(treaty: Treaty) -> None:
    day = (datetime.now(UTC).date() + timedelta(days=60)).isoformat()

    items = json.loads(
        treaty("version", "deprecate", "orders", "1.0.0", *PLAN, "--sunset", day, "--format", "json").output
    )["items"]

    assert [(one["version"], one["status"], one["sunset_on"]) for one in items] == [("1.0.0", "deprecated", day)]


def test_the_periods_are_settings(treaty: Treaty, write: Write) -> None:
    write("treaty.yaml", "lifecycle: {deprecation_days: 90, sunset_days: 14}\n")
    today = datetime.now(UTC).date()

    output = treaty("version", "deprecate", "orders@1", *PLAN).output

    assert f"sunset on {today + timedelta(days=90)}, may be retired from {today + timedelta(days=104)}" in output


def test_a_sunset_too_soon_is_refused(treaty: Treaty) -> None:
    result = treaty("version", "deprecate", "orders", "1.0.0", *PLAN, "--sunset", datetime.now(UTC).date().isoformat())

    assert result.code == 3
    assert "less than 30 days" in result.errors


@pytest.mark.parametrize("day", ["tomorrow", "2026-13-01"])
def test_a_day_that_is_none_is_a_wrong_call(treaty: Treaty, day: str) -> None:
    assert treaty("version", "deprecate", "orders@1", *PLAN, "--sunset", day).code == 2


def test_retiring_is_refused_and_can_be_overridden(treaty: Treaty) -> None:
    treaty("consumer", "subscribe", "ledger", "orders@2", "--class", "external_regulatory", "--field", "order_id")

    refused = treaty("version", "retire", "orders@2")
    overridden = treaty("version", "retire", "orders@2", "--override", "the source is switched off")

    assert refused.code == 3
    assert "orders 2.0.0 is active; deprecate it first; ledger still reads orders@2" in refused.errors
    assert (overridden.code, overridden.output) == (0, "orders 2.0.0 is retired\n")


def test_an_archived_version_stays_in_history(treaty: Treaty) -> None:
    assert treaty("version", "archive", "orders", "1.0.0").output == "orders 1.0.0 is archived\n"
    assert "1.0.0    archived" in treaty("version", "history", "orders").output


def test_reminder_is_labelled(treaty: Treaty, monkeypatch: pytest.MonkeyPatch) -> None:
    said = "the window ends on 2026-12-24; still to move: ledger"
    step = StepAnswer(contract="orders", version="1.0.0", before="deprecated", after="deprecated", reason=said)
    monkeypatch.setattr(Registry, "tick", lambda _: [step])

    assert treaty("admin", "tick").output == f"reminder about orders 1.0.0, which is deprecated: {said}\n"


def test_the_calendar_moves_what_is_due(treaty: Treaty, write: Write) -> None:
    assert treaty("admin", "tick").output == "nothing is due\n"
    write("treaty.yaml", "lifecycle: {deprecation_days: 0}\n")
    treaty("version", "deprecate", "orders", "1.0.0", *PLAN)

    result = treaty("admin", "tick")

    assert "orders 1.0.0 is now sunset (was deprecated)" in result.output
    assert json.loads(treaty("admin", "tick", "--format", "json").output) == {"items": [], "next": None}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("version", "history", "nothing"), "no contract 'nothing' is registered; find one with: treaty search"),
        (
            ("show", "orders", "9.9.9"),
            "'orders' has no version '9.9.9'; see which there are with: treaty version history orders",
        ),
        (
            ("can-i-retire", "orders@9"),
            "no line orders@9 is registered; see which there are with: treaty version history orders",
        ),
        (
            ("can-i-retire", "orders@1", "--version", "9.9.9"),
            "no version 9.9.9 of orders@1 is registered; see which there are with: treaty version history orders",
        ),
        (
            ("consumer", "unsubscribe", "nobody", "orders@1"),
            "'nobody' does not read orders@1; see what it reads: treaty consumer list --consumer nobody",
        ),
    ],
)
def test_what_is_not_there_leads_to_what_is(treaty: Treaty, arguments: tuple[str, ...], said: str) -> None:
    assert treaty(*arguments).errors == f"error: {said}\n"


@pytest.mark.parametrize("home", ["file", "server"])
@pytest.mark.parametrize(
    "arguments",
    [
        ("version", "retire", "orders@1", "--override", ""),
        ("version", "retire", "orders", "1.0.0", "--override", "  "),
        ("version", "archive", "orders", "1.0.0", "--override", ""),
        ("proposal", "approve", "1", "--override", ""),
        ("proposal", "approve", "1", "--reason", ""),
        ("proposal", "decline", "1", "--reason", ""),
        ("waiver", "add", "sla_relaxed", "--owner", "checkout", "--until", "2999-01-01", "--reason", ""),
        ("migrate", "waive", "1", "ledger", "--until", "2999-01-01", "--reason", ""),
    ],
)
def test_a_blank_reason_is_refused_before_anybody_is_asked(
    treaty: Treaty, request: pytest.FixtureRequest, home: str, arguments: tuple[str, ...]
) -> None:
    where = ("--registry", request.getfixturevalue("served")) if home == "server" else ()

    result = treaty(*arguments, *where)

    assert result.code == 2
    assert "the reason is blank" in " ".join(result.errors.replace("│", " ").split())
