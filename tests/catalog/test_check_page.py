"""Check page: verdict, affected consumers, fixes. Nothing is stored."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import ExitStack
from html import unescape
from typing import Any

import httpx2
import pytest
import yaml

from tests.catalog.contract_registry import read_event
from tests.catalog.members_server import Town, town
from tests.catalog.page_client import Browser, words
from tests.server.contracts import USERS, odcs, short, without
from treaty.server.settings import AccessSettings


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Town]:
    with ExitStack() as stack:
        made = town(stack, tmp_path_factory.mktemp("check"), AccessSettings(required=True))
        made.registry.consumers.subscribe(
            "ltv-dashboard", f"{USERS}@1", consumer_class="decision_automation", fields=["ltv"], team="growth"
        )
        made.registry.consumers.subscribe(
            "plan-report", f"{USERS}@1", consumer_class="operational_reporting", fields=["plan"], team="growth"
        )
        made.registry.lineage.record([read_event("plan-report", f"{USERS}@1", made.clock(), "plan", "user_id")])
        yield made


@pytest.fixture
def browser(place: Town) -> Iterator[Browser]:
    with Browser(place.address) as one:
        yield one


def check(browser: Browser, document: dict[str, Any] | str, **more: str) -> httpx2.Response:
    text = document if isinstance(document, str) else yaml.safe_dump(document, sort_keys=False)
    return browser.post("/catalog/check", {"document": text, **more})


def textarea(answer: httpx2.Response) -> str:
    """Return the content of the text area."""
    found = re.search(r"<textarea[^>]*>\n(.*?)</textarea>", answer.text, re.DOTALL)
    assert found
    return unescape(found[1])


def test_removed_field_shows_consumers_and_required_version(browser: Browser) -> None:
    answer = check(browser, without(short(version="1.1.0"), "ltv"))

    text = words(answer)
    assert answer.status_code == 200
    assert "Breaking: cannot be registered" in text
    assert "Required version 2.0.0" in text
    assert "Consumers affected 1" in text
    assert "field_removed" in text
    assert "mark the field deprecated: true" in text.lower()
    row = next(one for one in answer.text.split("<tr>") if "field_removed" in one)
    assert "ltv-dashboard" in row
    assert "plan-report" not in row


def test_changed_field_that_is_read_undeclared_is_marked(browser: Browser) -> None:
    fields = [{"name": "user_id", "type": "integer"}, *short()["fields"][1:]]

    answer = check(browser, short(version="1.1.0", fields=fields))

    row = next(
        one for one in answer.text.split("<tr>") if 'data-label="Changed fields"' in one and "plan-report" in one
    )
    assert "user_id not declared" in " ".join(re.sub(r"<[^>]*>", " ", row).split())


def test_compatible_change_can_be_registered(browser: Browser) -> None:
    fields = [*short()["fields"], {"name": "country", "type": "string", "required": False}]

    text = words(check(browser, short(version="1.1.0", fields=fields)))

    assert "Compatible: can be registered" in text
    assert "field_added" in text


PLAN = {"migration": {"guide": "https://wiki.example.org/plan", "window": "60 d", "owner": "growth"}}


def test_breaking_change_with_a_plan_opens_a_line(browser: Browser) -> None:
    text = words(check(browser, without(short(version="2.0.0"), "plan") | PLAN))

    assert "Breaking, with a migration plan: can be registered as a new line" in text


def test_breaking_change_for_critical_consumers_is_proposed(browser: Browser) -> None:
    text = words(check(browser, without(short(version="2.0.0"), "ltv") | PLAN))

    assert "Breaking: it would be proposed for approval" in text
    assert "it waits for acknowledgement by ltv-dashboard" in text


def test_registered_document_has_no_changes(browser: Browser) -> None:
    assert "No changes" in words(check(browser, short()))


def test_new_contract_can_be_registered(browser: Browser) -> None:
    assert "New contract, can be registered" in words(check(browser, odcs()))
    assert "New contract, can be registered" in words(check(browser, json.dumps(short("users.new"))))


def test_mode_can_be_selected(browser: Browser) -> None:
    added = short(version="1.1.0", fields=[*short()["fields"], {"name": "country", "type": "string"}])

    assert "Compatible no mode full" in words(check(browser, added, mode="full"))
    assert "unknown compatibility mode" in words(check(browser, added, mode="guessing"))


def test_invalid_document_is_kept_in_the_form_with_its_problems(browser: Browser) -> None:
    text = "dataset_id: a\nversion: 1.0.0\nversion: 2.0.0\nfields: []\n"

    answer = check(browser, text)

    assert answer.status_code == 422
    assert "Line 3: the key 'version' occurs twice in one mapping" in words(answer)
    assert textarea(answer) == text


@pytest.mark.parametrize(
    "text", ["", "   ", "{", "- 1", "a: b", "\x00", "a: &a [*a]", "[" * 5_000, "a: !!python/object:os.system x"]
)
def test_malformed_documents_are_refused(browser: Browser, text: str) -> None:
    assert check(browser, text).status_code == 422


def test_uploaded_file_takes_precedence(browser: Browser) -> None:
    file = yaml.safe_dump(without(short(version="1.1.0"), "ltv")).encode()
    fields = {"form_token": browser.form_token(), "document": "a: b"}
    headers = {"Origin": browser.address}

    answer = browser.client.post("/catalog/check", data=fields, files={"file": ("c.yaml", file)}, headers=headers)
    unread = browser.client.post(
        "/catalog/check", data=fields, files={"file": ("c.yaml", b"\xff\xfe")}, headers=headers
    )
    several = browser.client.post(
        "/catalog/check", data=fields, files=[("file", ("a", b"x")), ("file", ("b", b"x"))], headers=headers
    )

    assert "field_removed" in answer.text
    assert textarea(answer).startswith("dataset_id") or "dataset_id" in textarea(answer)
    assert (unread.status_code, several.status_code) == (422, 422)


def test_form_can_be_filled_with_a_registered_contract(browser: Browser) -> None:
    assert f"/catalog/check?contract={USERS}" in browser.get("/catalog/check").text

    page = browser.get(f"/catalog/check?contract={USERS}")

    assert yaml.safe_load(textarea(page))["dataset_id"] == USERS
    assert browser.get("/catalog/check?contract=none").status_code == 404


def test_nothing_is_stored(place: Town, browser: Browser) -> None:
    before = place.registry.access.verify_audit().entries
    check(browser, short("users.kept"))
    check(browser, without(short(version="1.1.0"), "ltv"))

    assert place.registry.access.verify_audit().entries == before
    assert place.registry.datasets().items == [USERS]


def test_hostile_text_is_escaped(browser: Browser) -> None:
    hostile = "</textarea><script>alert(1)</script>\u202eevil"
    field = {"name": "user_id", "type": "string", "description": hostile}
    document = short(version="1.1.0", description=hostile, fields=[field])

    answer = check(browser, yaml.safe_dump(document, allow_unicode=True))

    assert answer.status_code == 200
    assert "<script>alert" not in answer.text
    assert "&lt;script&gt;alert" in answer.text
