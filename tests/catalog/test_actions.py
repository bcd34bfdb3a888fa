"""Actions on pages: permissions, forms, and the messages of the registry."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import date
from itertools import count
from typing import Any, NamedTuple

import pytest
from starlette.requests import Request
from starlette.responses import Response

from tests.catalog.members_server import Town, town
from tests.catalog.page_client import Browser, words
from tests.registry.backends import actor_with_role
from tests.server.access_requests import SIGNED_IN_TEAMS
from tests.server.contracts import short
from tests.server.test_access import ROLES, breaking
from treaty.catalog.actions import ACTIONS
from treaty.catalog.actions.legacy_actions import LEGACY_ACTIONS
from treaty.catalog.rendering import Message
from treaty.legacy.cutover import Gate
from treaty.legacy.differences import ComparisonResult, DifferenceClass, Finding
from treaty.observability import Measure
from treaty.registry.rules import Approval, RegistryRules
from treaty.server.pages import cookies
from treaty.server.settings import AccessSettings

NUMBERS = count(1)
MEMBERS = {"contributor", "owner", "steward", "admin"}
OWNERS = {"owner", "steward", "admin"}
STEWARDS = {"steward", "admin"}
PLAN = {"deprecation_uri": "https://wiki.example.org/plan"}
SURE = {"confirm": "yes"}
_ASKED = {"type": "http", "method": "GET", "scheme": "http", "server": ("localhost", 80), "path": "/"}


class Asked(NamedTuple):
    """A form that is fine in itself, and who may send it."""

    act: str
    may: set[str]
    fields: Callable[[dict[str, Any]], dict[str, Any]]


def of_version(**more: str) -> Callable[[dict[str, Any]], dict[str, Any]]:
    return lambda made: {"contract": made["contract"], "version": "1.0.0", **more}


def of_line(**more: str) -> Callable[[dict[str, Any]], dict[str, Any]]:
    return lambda made: {"line": f"{made['contract']}@1", **more}


def of_migration(**more: str) -> Callable[[dict[str, Any]], dict[str, Any]]:
    return lambda made: {"migration": made["migration"], "consumer": "reader", **more}


LOST = Finding(DifferenceClass.MISSING_IN_NEW, "", "", 1)
DECISION = {"disposition": "accepted", "owner": "growth", "reason": "one row"}
LEGACY_ACTS = {action.name for action in LEGACY_ACTIONS}

TABLE = [
    Asked("activate", OWNERS, of_version()),
    Asked("deprecate", OWNERS, of_version(**PLAN)),
    Asked("deprecate-line", OWNERS, of_line(**PLAN)),
    Asked("retire", STEWARDS, of_version(**SURE, override="nobody reads it")),
    Asked("retire-line", STEWARDS, of_line(**SURE, override="nobody reads it")),
    Asked("archive", OWNERS, of_version(**SURE)),
    Asked(
        "subscribe",
        set(SIGNED_IN_TEAMS.own),
        of_line(consumer="x", consumer_class="operational_reporting", team="ledger"),
    ),
    Asked("confirm", MEMBERS, of_line(consumer="declared-growth")),
    Asked("challenge", MEMBERS, of_line(consumer="declared-ledger")),
    Asked("unsubscribe", MEMBERS, of_line(consumer="other-reader")),
    Asked("acknowledge", MEMBERS, of_migration()),
    Asked("move", MEMBERS, of_migration()),
    Asked("waive", STEWARDS, of_migration(**SURE, reason="switched off", until="2026-12-31")),
    Asked(
        "acknowledge-incident", MEMBERS, lambda made: {"incident": made["incident"], "reason": "it is being repaired"}
    ),
    Asked("decide-finding", MEMBERS, lambda made: {"feed": made["feed"], "finding": LOST.fingerprint, **DECISION}),
    Asked("acknowledge-cutover", MEMBERS, lambda made: {"feed": made["feed"], "consumer": "mover"}),
    Asked("approve-cutover", OWNERS, lambda made: {"feed": made["feed"], "consumer": "mover"}),
    Asked("cut-over", MEMBERS, lambda made: {"feed": made["feed"], "consumer": "mover"}),
    Asked("roll-back", MEMBERS, lambda made: {"feed": made["feed"], "consumer": "mover", "reason": "not yet"}),
    Asked("retire-feed", OWNERS, lambda made: {"feed": made["feed"], **SURE}),
    Asked("approve", OWNERS, lambda made: {"proposal": made["proposal"]}),
    Asked("decline", OWNERS, lambda made: {"proposal": made["proposal"]}),
]


class World(NamedTuple):
    """A server with a browser for each role."""

    place: Town
    browsers: dict[str, Browser]

    def prepare(self, act: str) -> dict[str, Any]:
        """Make a contract and what an act is about."""
        registry, contract = self.place.registry, f"users.{next(NUMBERS)}"
        registry.register(short(contract))
        made: dict[str, Any] = {"contract": contract}
        subscribe = registry.consumers.subscribe
        if act == "unsubscribe":
            subscribe("other-reader", f"{contract}@1", consumer_class="operational_reporting", team="growth")
        if act in ("confirm", "challenge"):
            team = "growth" if act == "confirm" else "ledger"
            rival = registry.acting_as(actor_with_role("rita", "owner", "rivals"))
            rival.consumers.subscribe(
                f"declared-{team}", f"{contract}@1", consumer_class="operational_reporting", team=team
            )
        if act == "acknowledge-incident":
            registry.measures.record([Measure(contract, "run", registry.now(), 0.0)])
            made["incident"] = registry.incidents.list(contract=contract).items[0].id
        if act in LEGACY_ACTS:
            made["feed"] = self._feed(contract, act)
        if act in ("approve", "decline"):
            made["proposal"] = registry.register(breaking(contract)).proposal
        if act in ("acknowledge", "move", "waive"):
            subscribe("reader", f"{contract}@1", consumer_class="decision_automation", team="growth")
            proposal = registry.register(breaking(contract)).proposal
            assert proposal is not None
            registry.governance.approve(proposal, override=True, reason="for the test")
            made["migration"] = registry.migrations.list(contract=contract).items[0].id
        return made

    def _feed(self, contract: str, act: str) -> str:
        """Declare a legacy feed with a consumer in the state that an act needs."""
        registry, feed, line = self.place.registry, f"mart.{contract}", f"{contract}@1"
        findings = (LOST,) if act == "decide-finding" else ()
        registry.consumers.subscribe("mover", line, consumer_class="operational_reporting", team="growth")
        registry.cutovers.declare(feed, line, "mart", consumers=["mover"], gate=Gate(1))
        result = ComparisonResult(feed, "sales", date(2026, 3, 1), 1, 1, {}, {}, findings)
        registry.parallel_runs.record(line, "mart", result)
        if act in ("cut-over", "roll-back", "retire-feed"):
            registry.cutovers.acknowledge(feed, "mover")
        if act in ("roll-back", "retire-feed"):
            registry.cutovers.cut_over(feed, "mover")
        return feed


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    rules = RegistryRules(approval=Approval.REQUIRED)
    with ExitStack() as stack:
        place = town(stack, tmp_path_factory.mktemp("acting"), AccessSettings(required=True), rules)
        browsers = {}
        for name, held in ROLES.items():
            browsers[name] = stack.enter_context(Browser(place.address))
            if held:
                assert browsers[name].sign_in(place.token(*held)).status_code == 303
        yield World(place, browsers)


def test_table_covers_every_action() -> None:
    assert {asked.act for asked in TABLE} == set(ACTIONS)


@pytest.mark.parametrize("asked", TABLE, ids=[one.act for one in TABLE])
def test_roles_are_allowed_as_in_the_table(world: World, asked: Asked) -> None:
    said = {}
    for role, browser in world.browsers.items():
        fields = asked.fields(world.prepare(asked.act))
        answer = browser.post(f"/catalog/act/{asked.act}", fields)
        said[role] = "yes" if answer.status_code == 303 else str(answer.status_code)

    assert said == {role: "yes" if role in asked.may else "401" if role == "anonymous" else "403" for role in ROLES}


@pytest.mark.parametrize("asked", TABLE, ids=[one.act for one in TABLE])
def test_action_page_shows_the_form_or_the_required_permission(world: World, asked: Asked) -> None:
    fields = asked.fields(world.prepare(asked.act))
    about = {name: fields[name] for name in ACTIONS[asked.act].subject_fields}

    mine = world.browsers["steward"].get(f"/catalog/act/{asked.act}", params=about)
    viewers = world.browsers["viewer"].get(f"/catalog/act/{asked.act}", params=about)
    nobodys = world.browsers["anonymous"].get(f"/catalog/act/{asked.act}", params=about)

    assert (mine.status_code, viewers.status_code, nobodys.status_code) == (200, 403, 403)
    form = f'action="/catalog/act/{asked.act}"'
    assert [form in one.text for one in (mine, viewers, nobodys)] == [True, False, False]
    assert "Who can do this" in viewers.text
    assert "/catalog/sign-in?then=%2Fcatalog%2Fact%2F" in nobodys.text


def test_result_is_shown_once_after_the_redirect(world: World) -> None:
    owner, made = world.browsers["owner"], world.prepare("deprecate")

    done = owner.post("/catalog/act/deprecate", of_version(**PLAN, sunset_on="2026-09-01")(made))

    assert done.status_code == 303
    assert done.headers["location"] == f"/catalog/contracts/{made['contract']}/versions"
    found = world.place.registry.get(made["contract"], "1.0.0")
    assert (found.status, str(found.sunset_on)) == ("deprecated", "2026-09-01")
    assert "is deprecated; sunset on 2026-09-01" in words(owner.get("/"))
    assert "is deprecated" not in words(owner.get("/"))


@pytest.mark.parametrize(
    ("act", "about"), [("deprecate", of_version), ("deprecate-line", of_line)], ids=["version", "line"]
)
def test_a_deprecation_has_replacement_reason_guide_and_dates(world: World, act: str, about: Any) -> None:
    owner, made = world.browsers["owner"], world.prepare(act)
    fields = {
        "deprecation_uri": "https://wiki.example.org/guide",
        "replacement": "users.unified@1",
        "reason": "one model for all users",
        "announced_on": "2026-04-01",
        "sunset_on": "2026-06-01",
    }

    assert owner.post(f"/catalog/act/{act}", about(**fields)(made)).status_code == 303

    (line,) = world.place.registry.lines(made["contract"])
    assert (line.status, line.replacement, line.reason) == ("active", "users.unified@1", "one model for all users")
    assert line.deprecation_uri == "https://wiki.example.org/guide"
    assert (str(line.announced_on), str(line.sunset_on)) == ("2026-04-01", "2026-06-01")
    page = words(owner.get(f"/catalog/contracts/{made['contract']}"))
    assert "will be deprecated on 2026-04-01" in page
    assert "The end of this version is announced. Deprecation on 1 Apr 2026 (in 30 days); sunset on 1 Jun 2026" in page
    assert "one model for all users Use users.unified@1 instead. Migration guide" in page


@pytest.mark.parametrize("act", [name for name, act in ACTIONS.items() if act.confirmation])
def test_permanent_actions_need_a_confirmation(world: World, act: str) -> None:
    asked = next(one for one in TABLE if one.act == act)
    made = world.prepare(act)

    answer = world.browsers["steward"].post(f"/catalog/act/{act}", {**asked.fields(made), "confirm": ""})

    assert answer.status_code == 422
    assert "Tick the confirmation" in words(answer)
    assert world.place.registry.get(made["contract"], "1.0.0").status == "active"


def test_refused_form_keeps_its_values(world: World) -> None:
    made = world.prepare("deprecate")
    fields = of_version(deprecation_uri="https://wiki.example.org/<plan>", sunset_on="2026-03-03")(made)

    answer = world.browsers["owner"].post("/catalog/act/deprecate", fields)

    assert answer.status_code == 409
    assert "the sunset 2026-03-03 is less than 30 days after 2026-03-02" in words(answer)
    assert 'value="https://wiki.example.org/&lt;plan&gt;"' in answer.text
    assert 'value="2026-03-03"' in answer.text


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"consumer": ""}, "The consumer is required"),
        ({"consumer_class": "guessing"}, "unknown consumer class 'guessing'"),
        ({"more_fields": "no_such_field"}, "has no field 'no_such_field'"),
        ({"purpose": "a\x00b"}, "a field contains a NUL character"),
        ({"purpose": "x" * 2_001}, "2,000 characters at most"),
        ({"line": "users@x"}, "is not a line"),
        ({"line": "users.none@1"}, "no contract 'users.none' is registered"),
    ],
)
def test_invalid_subscription_shows_the_reason(world: World, fields: dict[str, str], said: str) -> None:
    given = {"consumer": "report", "consumer_class": "operational_reporting", "team": "growth"}

    answer = world.browsers["owner"].post(
        "/catalog/act/subscribe", {"line": f"{world.prepare('')['contract']}@1", **given, **fields}
    )

    assert answer.status_code in (404, 422)
    assert said in words(answer)


def test_subscription_fields_can_be_checked_or_typed(world: World) -> None:
    owner, contract = world.browsers["owner"], world.prepare("")["contract"]
    page = owner.get("/catalog/act/subscribe", params={"line": f"{contract}@1"})
    assert 'name="fields" value="plan"' in page.text

    fields = {"consumer": "r", "consumer_class": "operational_reporting", "fields": ["plan", "ltv"], "team": "growth"}
    owner.post("/catalog/act/subscribe", {"line": f"{contract}@1", "more_fields": "user_id\nplan", **fields})

    (found,) = world.place.registry.consumers.subscriptions(contract=contract).items
    assert found.fields == ["ltv", "plan", "user_id"]


@pytest.mark.parametrize(
    "about", ["", "?proposal=x", "?proposal=0", "?proposal=-1", "?proposal=9" + "9" * 30, "?proposal=٣"]
)
def test_action_without_a_subject_is_refused(world: World, about: str) -> None:
    assert world.browsers["steward"].get(f"/catalog/act/approve{about}").status_code == 422


def test_unknown_action_is_not_found(world: World) -> None:
    assert world.browsers["steward"].get("/catalog/act/explode").status_code == 404
    assert world.browsers["steward"].post("/catalog/act/explode").status_code == 405


def test_open_proposals_have_decision_links(world: World) -> None:
    proposal = world.prepare("approve")["proposal"]

    for role, offers in (("steward", True), ("anonymous", False)):
        page = world.browsers[role].get("/catalog/proposals")
        assert page.status_code == 200
        assert (f"/catalog/act/approve?proposal={proposal}" in page.text) is offers


def test_hostile_text_is_escaped(world: World) -> None:
    hostile = "<script>alert(1)</script>"
    answer = world.browsers["owner"].post(
        "/catalog/act/subscribe",
        {"line": f"{world.prepare('')['contract']}@1", "consumer": hostile, "consumer_class": hostile},
    )

    assert answer.status_code == 422
    assert hostile not in answer.text
    assert "&lt;script&gt;" in answer.text


class TestForms:
    """Forms are accepted only with their token and from pages of this server."""

    @pytest.fixture
    def asked(self, world: World) -> tuple[Browser, dict[str, Any]]:
        return world.browsers["owner"], of_version(**PLAN)(world.prepare("deprecate"))

    def refused(self, world: World, browser: Browser, fields: dict[str, Any], **options: Any) -> str:
        answer = browser.post("/catalog/act/deprecate", fields, **options)
        assert answer.status_code == 403
        assert world.place.registry.get(fields["contract"], "1.0.0").status == "active"
        return words(answer)

    @pytest.mark.parametrize("token", ["", "0" * 64, "0" * 128, "0" * 127, "ä", "x" * 10_000])
    def test_form_without_its_token_is_refused(
        self, world: World, asked: tuple[Browser, dict[str, Any]], token: str
    ) -> None:
        assert "reload the page" in self.refused(world, *asked, token=token)

    def test_token_of_another_visitor_is_refused(self, world: World, asked: tuple[Browser, dict[str, Any]]) -> None:
        self.refused(world, *asked, token=world.browsers["admin"].form_token())

    @pytest.mark.parametrize(
        "headers",
        [
            {"Origin": "https://evil.test"},
            {"Origin": "null"},
            {"Origin": "http://127.0.0.1"},
            {"Sec-Fetch-Site": "cross-site"},
            {"Sec-Fetch-Site": "same-site"},
            {"Sec-Fetch-Site": "none"},
        ],
    )
    def test_cross_site_form_is_refused(
        self, world: World, asked: tuple[Browser, dict[str, Any]], headers: dict[str, str]
    ) -> None:
        assert "not sent from a page of this server" in self.refused(world, *asked, headers=headers)

    def test_form_without_an_origin_is_refused(self, world: World, asked: tuple[Browser, dict[str, Any]]) -> None:
        browser, fields = asked
        answer = browser.client.post("/catalog/act/deprecate", data={"form_token": browser.form_token(), **fields})

        assert answer.status_code == 403

    def test_form_tokens_differ_between_pages(self, asked: tuple[Browser, dict[str, Any]]) -> None:
        browser, _ = asked

        assert browser.form_token() != browser.form_token()

    def test_form_of_an_ended_session_is_refused(self, world: World) -> None:
        made = world.prepare("deprecate")
        with Browser(world.place.address) as browser:
            token = world.place.token()
            browser.sign_in(token)
            form = browser.form_token()
            world.place.registry.access.revoke_token(token.split("_")[1])

            answer = browser.post("/catalog/act/deprecate", of_version(**PLAN)(made), token=form)
            assert "treaty_session" not in browser.client.cookies

        assert answer.status_code == 401
        assert 'class="notice' not in answer.text
        assert "your session has ended. Nothing was changed" in words(answer)
        assert world.place.registry.get(made["contract"], "1.0.0").status == "active"

    def test_query_parameters_do_not_submit_a_form(self, world: World, asked: tuple[Browser, dict[str, Any]]) -> None:
        browser, fields = asked
        browser.get("/catalog/act/deprecate", params={"form_token": browser.form_token(), **fields})

        assert world.place.registry.get(fields["contract"], "1.0.0").status == "active"

    def test_forged_message_is_not_shown(self, world: World) -> None:
        with Browser(world.place.address) as browser:
            browser.client.cookies.set("treaty_flash", "WyJnb29kIiwieCJd." + "0" * 64, domain="127.0.0.1")
            browser.client.cookies.set("treaty_visit", "v" * 43, domain="127.0.0.1")

            assert 'class="notice' not in browser.get("/").text

    @pytest.mark.parametrize("sign", ["a", "é", "契", "🤝", '"', "\n", "\x00"])
    def test_long_message_fits_into_a_cookie(self, sign: str) -> None:
        request, response = Request({**_ASKED, "headers": []}), Response()

        cookies.set_flash(request, response, "secret", Message("good", sign * 9_000))

        cookie = response.headers["set-cookie"].partition(";")[0]
        assert len(cookie) < 3_600
        again = Request({**_ASKED, "headers": [(b"cookie", cookie.encode())]})
        said = cookies.read_flash(again, "secret")
        assert said is not None
        assert (said.kind, set(said.text)) == ("good", {sign})
        assert len(said.text.encode()) > 2_380

    def test_pages_cannot_be_framed(self, world: World) -> None:
        for path in ("/", "/catalog/check", "/catalog/proposals", "/catalog/nowhere", "/catalog/sign-in"):
            assert "frame-ancestors 'none'" in world.browsers["owner"].get(path).headers["content-security-policy"]

    def test_form_with_too_many_fields_is_refused(self, world: World, asked: tuple[Browser, dict[str, Any]]) -> None:
        browser, fields = asked
        many = {**fields, "fields": ["x"] * 3_000}

        assert browser.post("/catalog/act/deprecate", many).status_code == 422
        parts = [("fields", (None, "x"))] * 3_000
        headers = {"Origin": browser.address}
        assert browser.client.post("/catalog/act/deprecate", files=parts, headers=headers).status_code == 422

    def test_too_large_form_is_refused(self, world: World, asked: tuple[Browser, dict[str, Any]]) -> None:
        browser, fields = asked

        assert browser.post("/catalog/act/deprecate", {**fields, "note": "x" * 600_000}).status_code == 413

    @pytest.mark.parametrize("charset", ["unicode_escape", "utf-7", "utf-16", "idna", "nonsense"])
    def test_unusual_charsets_are_refused(
        self, world: World, asked: tuple[Browser, dict[str, Any]], charset: str
    ) -> None:
        browser, _ = asked
        sent = {"form_token": browser.form_token(), "contract": "\\ud800", "version": "+AAA-"}
        parts = [f'--b\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{it}\r\n' for name, it in sent.items()]
        body = "".join([*parts, "--b--\r\n"]).encode()
        kind = f"multipart/form-data; boundary=b; charset={charset}"
        headers = {"Origin": browser.address, "Content-Type": kind}

        answer = browser.client.post("/catalog/act/deprecate", content=body, headers=headers)

        assert answer.status_code in (403, 404, 422)

    @pytest.mark.parametrize(
        "body", [b"", b"--b", b"--b\r\n\r\n", b"--b--", b"garbage", b"--b\r\nX: y\r\n\r\nz\r\n--b--\r\n"]
    )
    def test_malformed_form_is_refused(self, world: World, asked: tuple[Browser, dict[str, Any]], body: bytes) -> None:
        browser, _ = asked
        headers = {"Origin": browser.address, "Content-Type": "multipart/form-data; boundary=b"}

        assert browser.client.post("/catalog/act/deprecate", content=body, headers=headers).status_code in (403, 422)


def test_forms_work_without_sign_in_on_an_open_server(tmp_path_factory: pytest.TempPathFactory) -> None:
    with ExitStack() as stack:
        place = town(stack, tmp_path_factory.mktemp("open"), AccessSettings())
        browser = stack.enter_context(Browser(place.address))
        fields = {"contract": "users.daily_active", "version": "1.0.0", **PLAN}
        stranger = browser.post("/catalog/act/deprecate", fields, headers={"Origin": "http://localhost:1"})
        done = browser.post("/catalog/act/deprecate", fields)

        assert (stranger.status_code, done.status_code) == (403, 303)
        assert place.registry.get("users.daily_active", "1.0.0").status == "deprecated"
