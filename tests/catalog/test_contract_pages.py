"""Pages of one contract: overview, versions, comparison, consumers, document."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from gzip import compress
from html import unescape
from pathlib import Path
from shlex import split

import pytest
from typer.testing import CliRunner

from tests.catalog.contract_registry import Shop, field, read_event, shop
from tests.catalog.page_client import Browser, words
from tests.documents import document
from tests.registry.offers import orders
from tests.server.conftest import Clock
from tests.server.running import running
from treaty.catalog.contacts import safe_address
from treaty.catalog.links import file_path
from treaty.catalog.pages.contract import consumers_page, contract_page, contract_pages, version_pairs
from treaty.catalog.pages.contract.compare import summarize_difference
from treaty.catalog.pages.contract.contract_data import load_contract_data, parse_contract
from treaty.catalog.pages.contract.field_history import without_shared_fields
from treaty.catalog.rendering import RenderContext, render
from treaty.cli.app import build_app
from treaty.compatibility.diff import diff
from treaty.legacy.consumer_guess import guess_class
from treaty.legacy.scanned_reads import ScannedRead
from treaty.registry.client import RegistryClient
from treaty.registry.service import Registry
from treaty.server.app import create_app

NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)
ORDERS = "/catalog/contracts/orders"
PAGES = ("", "/versions", "/consumers", "/document/odcs", "/document/short", "/document/spark", "/document/ddl")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    with shop(tmp_path_factory.mktemp("contract")) as made:
        yield made


@pytest.fixture
def browser(place: Shop) -> Iterator[Browser]:
    with Browser(place.address) as one:
        yield one


def row(page: str, path: str) -> str:
    """Return the text of the row of a field."""
    found = re.search(rf'<tr id="field-{re.escape(path)}".*?</tr>', page, re.DOTALL)
    assert found, f"no row for {path}"
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", found[0])).split())


def test_overview_shows_meaning_and_contacts(browser: Browser) -> None:
    answer = browser.get(ORDERS)
    text = words(answer)

    assert answer.status_code == 200
    assert "Order placed 2.0.0 active One row per order." in text
    assert "Usage Join on order_id. Limitations No drafts. Not included Carts They are no orders." in text
    assert 'href="mailto:checkout@example.org"' in answer.text
    assert "#pager" in text
    assert "Retention 2 y" in text
    assert "Migration from orders@1 to orders@2 until 1 May 2026 (in 60 days): 3 waiting" in text


def test_line_of_a_change_feed_says_that_it_is_no_business_contract(tmp_path: Path) -> None:
    with shop(tmp_path) as made, Browser(made.address) as browser:
        assert "not a business contract" not in words(browser.get(ORDERS))
        made.registry.consumers.record_lineage("orders@2", [], layer="change_feed")

        assert "Layer change feed, not a business contract" in words(browser.get(ORDERS))


def test_field_shows_rules_meaning_and_consumers(browser: Browser) -> None:
    page = browser.get(f"{ORDERS}/at/1.2.0").text

    assert row(page, "order_id") == "order_id Order number string key required unique — ledger"
    assert "number optional ≥ 0 in EUR ledger" in row(page, "total")
    assert "open · done open Not shipped." in row(page, "state")
    assert row(browser.get(ORDERS).text, "state").endswith("Revenue @1")
    assert "pii deprecated" in row(page, "email")
    assert "<s><bdi>email</bdi></s>" in page
    assert "Any change may affect 1 consumer without listed fields: notebook" in words(
        browser.get(f"{ORDERS}/at/1.2.0")
    )


def test_nested_fields_have_the_consumers_of_their_parents(browser: Browser) -> None:
    page = browser.get(f"{ORDERS}/at/1.2.0").text

    assert "lines array<object> optional — picker" in row(page, "lines")
    assert "lines[]. sku string optional — picker" in row(page, "lines~5b~5d.sku")
    assert row(page, "lines~5b~5d.amount").endswith("none")
    assert 'data-depth="1"' in page


def test_field_shows_its_history(browser: Browser) -> None:
    page = browser.get(ORDERS).text

    assert "added in 1.1.0" in row(page, "coupon")
    assert "deprecated, meaning changed in 1.2.0" in row(page, "email")
    assert f'href="{ORDERS}/compare/1.1.0..1.2.0"' in page


@pytest.mark.parametrize(
    ("before", "after"), [("1.0.0", "1.1.0"), ("1.1.0", "1.2.0"), ("1.2.0", "2.0.0"), ("2.0.0", "1.0.0")]
)
def test_shortened_documents_differ_in_the_same_fields(place: Shop, before: str, after: str) -> None:
    one, other = (place.registry.get("orders", number) for number in (before, after))
    full = [change for change in diff(parse_contract(one), parse_contract(other)) if change.field]

    assert [change for change in diff(*without_shared_fields(one, other)) if change.field] == full


def test_deprecated_version_shows_dates_and_guide(browser: Browser) -> None:
    text = words(browser.get(f"{ORDERS}/at/1.1.0"))

    assert "This is version 1.1.0. The latest is 2.0.0 ; compare" in text
    assert "This version is deprecated. Announced on 2 Mar 2026 (today); sunset on 1 Apr 2026 (in 30 days)" in text
    assert "Migration guide: https://wiki.example.org/guide" in text


def test_versions_page_lists_lines_and_changes(browser: Browser) -> None:
    text = words(browser.get(f"{ORDERS}/versions"))

    assert "orders@1 deprecated" in text
    assert "1.2.0 3 versions 3 consumers ledger notebook picker" in text
    assert "optional field 'coupon' added compared with 1.0.0 minor" in text
    assert "field 'total' was removed; old data will fail validation" in text
    assert "major warning breaking" not in text
    assert "major breaking" in text


def test_version_picker_redirects_to_the_comparison(browser: Browser) -> None:
    answer = browser.get(f"{ORDERS}/compare", params={"before": "1.0.0", "after": "2.0.0"})

    assert answer.status_code == 303
    assert answer.headers["location"] == f"{ORDERS}/compare/1.0.0..2.0.0"


def test_breaking_comparison_shows_kinds_consumers_and_migration_path(browser: Browser) -> None:
    answer = browser.get(f"{ORDERS}/compare/1.2.0..2.0.0")
    text = words(answer)

    assert "Breaking but allowed: it opens a new line" in text
    assert "field_removed removed A field was removed. existing data ledger major" in text
    assert "Required bump major to 2.0.0" in text
    assert "ledger ledgers affected" in text
    assert "notebook notebooks unknown" in text
    assert "picker pickers not affected" in text
    assert "CREATE OR REPLACE VIEW" in answer.text
    assert 'href="#kind-field_removed"' in answer.text
    assert "Why it hurts" in text


def test_fields_are_compared_side_by_side(browser: Browser) -> None:
    page = browser.get(f"{ORDERS}/compare/1.1.0..2.0.0").text

    assert page.count("is-removed") == 1
    assert re.search(r"is-changed.*?email.*?Where the receipt goes\..*?Ask the customer service", page, re.DOTALL)
    assert page.count("is-unchanged") == 6


def test_versions_can_be_compared_in_reverse(browser: Browser) -> None:
    text = words(browser.get(f"{ORDERS}/compare/1.2.0..1.1.0"))

    assert "This compares a higher version with a lower one." in text
    assert "Can be registered" not in text


def test_consumers_page_lists_fields_and_the_subscribe_command(browser: Browser) -> None:
    answer = browser.get(f"{ORDERS}/consumers")
    text = words(answer)

    assert "picker operational reporting lines[].sku never seen pickers picker@example.org" in text
    assert f'href="{ORDERS}/at/1.2.0#field-lines~5b~5d.sku"' in answer.text
    assert "not specified any change may affect it" in text
    assert "treaty consumer subscribe my-team.my-report orders@2" in text
    assert "Revenue revenue@1 orders@2 state" in text
    assert text.count("orders@1 is deprecated") == 1


def test_consumers_page_lists_hidden_dependencies(tmp_path: Path) -> None:
    read = ScannedRead(
        "nightly",
        "orders",
        frozenset({"total", "row_version"}),
        "sql",
        guess_class("nightly", "sql"),
        places=("n.sql",),
    )
    clock = Clock()
    with Registry.open(str(tmp_path / "registry.db"), clock=clock) as registry:
        registry.register(document({"fields": [field("order_id"), field("total", "number")]}))
        registry.dependency_map.record_scan("jobs", [read])

        page = render(consumers_page(registry, "orders"), RenderContext(clock.now))

    text = " ".join(unescape(re.sub(r"<[^>]*>", " ", page)).split())

    assert (
        "Hidden dependencies What consumers read from the publisher without a contract that promises it. A change "
        "that the publisher may make without notice breaks them." in text
    )
    assert "nightly unknown field reads row_version, which is not in the contract" in text


@pytest.fixture
def observed_page(tmp_path: Path) -> str:
    """The page of a contract with subscribers that were seen reading, or not, and readers without a subscription."""
    clock = Clock()
    with Registry.open(str(tmp_path / "registry.db"), clock=clock) as registry:
        registry.register(document({"fields": [field("order_id"), field("total", "number")]}))
        subscribe = partial(registry.consumers.subscribe, consumer_class="operational_reporting", fields=["total"])
        for name in ("archive", "idle", "ledger"):
            subscribe(name, "orders@1")
        registry.lineage.record(
            [read_event("archive", "orders@1", clock.now, "total"), read_event("former", "orders@1", clock.now, run=2)]
        )
        clock.forward(days=120)
        subscribe("newcomer", "orders@1")
        registry.lineage.record(
            [
                read_event("ledger", "orders@1", clock.now - timedelta(days=3), "order_id", "total", run=3),
                read_event("notebook", "orders@1", clock.now - timedelta(hours=3), "order_id", run=4),
                read_event("copy", "orders@1", clock.now, run=5),
            ]
        )
        return render(consumers_page(registry, "orders"), RenderContext(clock.now))


def consumer_row(page: str, name: str) -> tuple[str, list[str]]:
    """Return the text of the row of a consumer, and the icons of its state."""
    found = re.search(rf'<tr><th scope="row"><a href="[^"]*"><bdi>{name}</bdi>.*?</tr>', page, re.DOTALL)
    assert found, f"no row for {name}"
    text = " ".join(unescape(re.sub(r"<[^>]*>", " ", found[0])).split())
    return text, re.findall(r"state-(\w+)", found[0])


RUN = "run 00000000-0000-0000-0000-00000000000"


@pytest.mark.parametrize(
    ("name", "text", "icon"),
    [
        (
            "ledger",
            "ledger operational reporting total seen reading 3 days ago order_id not declared total "
            f"job airflow/ledger {RUN}3 — 2 Mar 2026",
            "healthy",
        ),
        (
            "archive",
            "archive operational reporting total subscribed, not seen reading for 120 days "
            f"job airflow/archive {RUN}1 — 2 Mar 2026",
            "blocked",
        ),
        ("idle", "idle operational reporting total subscribed, never seen reading — 2 Mar 2026", "blocked"),
        ("newcomer", "newcomer operational reporting total never seen — 30 Jun 2026", "none"),
        (
            "notebook",
            "notebook no subscription — reads without a subscription last seen 3 hours ago order_id "
            f"job airflow/notebook {RUN}4 — first seen 30 Jun 2026",
            "warning",
        ),
        (
            "copy",
            "copy no subscription — reads without a subscription last seen just now fields not known "
            f"job airflow/copy {RUN}5 — first seen 30 Jun 2026",
            "warning",
        ),
    ],
)
def test_consumers_page_shows_who_was_seen_reading(observed_page: str, name: str, text: str, icon: str) -> None:
    assert consumer_row(observed_page, name) == (text, [icon])


def test_consumers_page_counts_readers_without_a_subscription_while_their_reads_count(observed_page: str) -> None:
    assert "4 consumers, 2 readers without a subscription; fields as of" in observed_page
    assert "former" not in observed_page  # it read 120 days ago


def test_line_that_is_only_read_without_a_subscription_lists_its_reader(tmp_path: Path) -> None:
    clock = Clock()
    with Registry.open(str(tmp_path / "registry.db"), clock=clock) as registry:
        registry.register(document({"fields": [field("order_id")]}))
        registry.lineage.record([read_event("notebook", "orders@1", clock.now)])
        page = render(consumers_page(registry, "orders"), RenderContext(clock.now))

    assert "0 consumers, 1 reader without a subscription" in page
    assert consumer_row(page, "notebook")[1] == ["warning"]


def test_subscribe_command_works(browser: Browser, place: Shop, tmp_path: Path) -> None:
    shown = re.search(r'id="subscribe-2"[^>]*>(.*?)</pre>', browser.get(f"{ORDERS}/consumers").text, re.DOTALL)
    assert shown
    program, *arguments = split(unescape(shown[1]).replace("\\\n", " "))
    database = str(tmp_path / "other.db")
    with Registry.open(database) as other:
        document = {**place.registry.get("orders", "1.0.0").document, "version": "2.0.0", "status": "active"}
        document.pop("deprecation")
        other.register(document)

    result = CliRunner().invoke(build_app(), [*arguments, "--registry", database])

    assert program == "treaty"
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize(
    ("form", "content"),
    [
        ("odcs", "apiVersion: v3.2.0"),
        ("short", "dataset_id: orders"),
        ("spark", '"type": "struct"'),
        ("ddl", "CREATE TABLE"),
        ("json", '"apiVersion": "v3.2.0"'),
    ],
)
def test_document_can_be_copied_in_each_format(browser: Browser, form: str, content: str) -> None:
    answer = browser.get(f"{ORDERS}/document/{form}")

    assert content in words(answer)
    assert 'data-copy="document"' in answer.text
    assert "/api/v1/contracts/orders/versions/2.0.0/document" in answer.text


def test_format_lists_terms_that_it_cannot_express(browser: Browser) -> None:
    assert "terms not expressible in this format" in words(browser.get(f"{ORDERS}/document/spark"))
    assert "not expressible in this format" not in words(browser.get(f"{ORDERS}/document/odcs"))


def test_impossible_format_shows_the_reason(place: Shop, browser: Browser) -> None:
    place.registry.register(document({"id": "policy", "tier": "domain", "domain": "x"}))

    for form in ("short", "spark", "ddl"):
        answer = browser.get(f"/catalog/contracts/policy/document/{form}")
        assert answer.status_code == 200
        assert "This contract cannot be exported as" in words(answer)


@pytest.mark.parametrize(
    "path",
    [
        "/catalog/contracts/nowhere",
        "/catalog/contracts/nowhere/versions",
        "/catalog/contracts/~ff~fe",
        f"{ORDERS}/at/9.9.9",
        f"{ORDERS}/at/x~2fy",
        f"{ORDERS}/compare/1.0.0..9.9.9",
        f"{ORDERS}/compare/1.0.0",
        f"{ORDERS}/document/word",
    ],
)
def test_unknown_pages_are_not_found(browser: Browser, path: str) -> None:
    assert browser.get(path).status_code == 404


@pytest.mark.parametrize("page", PAGES)
def test_hostile_text_is_escaped(browser: Browser, page: str) -> None:
    answer = browser.get(f"/catalog/contracts/hostile{page}")

    assert answer.status_code == 200
    assert "<script>alert" not in answer.text
    assert "<img src=x" not in answer.text
    assert "\u202e" not in answer.text
    assert not re.search(r'href="\s*javascript', answer.text, re.IGNORECASE)


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("https://wiki.example.org/x", "https://wiki.example.org/x"),
        ("team@example.org", "mailto:team@example.org"),
        ("mailto:team@example.org", "mailto:team@example.org"),
        ("http://wiki.example.org", None),
        ("javascript:alert(1)", None),
        ("JAVASCRIPT:alert(1)@x.yz", None),
        ("data:text/html,x@y.z", None),
        ("https://", None),
        ("https://a b", None),
        ("#channel", None),
        ("team@example.org?bcc=other@example.org", None),
        (None, None),
    ],
)
def test_only_mail_and_https_become_links(text: str | None, address: str | None) -> None:
    assert safe_address(text) == address


def test_only_differing_entries_of_long_values_are_shown() -> None:
    one = {"contract": "a", "fields": ["x", "y"]}

    assert summarize_difference([one, {"source": "s"}], [one, {"source": "t"}]) == ("source: s", "source: t")
    assert summarize_difference({"a": 1, "b": 2}, {"a": 1, "b": 3}) == ("b: 2", "b: 3")
    assert summarize_difference(["x"], ["x", "y"]) == ("x", "x, y")
    assert summarize_difference(True, None) == ("yes", None)


def test_inherited_values_and_readers_are_shown(tmp_path: Path) -> None:
    policy = {"id": "policy", "tier": "domain", "slaProperties": [{"property": "freshness", "value": 6, "unit": "h"}]}
    common = [{"name": "country", "logicalType": "string", "required": True}]
    silent = {"parent": "policy", "fields": [{"name": "order_id", "logicalType": "string"}]}
    with Registry.open(str(tmp_path / "registry.db")) as registry:
        registry.register(document({**policy, "fields": common}))
        registry.register(document(silent))
        registry.register(document({"id": "alone", "fields": common, "visibility": {"teams": ["sales"]}}))
        with running(create_app(registry)) as address, Browser(address) as browser:
            child, alone = (words(browser.get(f"/catalog/contracts/{name}")) for name in ("orders", "alone"))

    assert "Inherited from policies What the contract does not say itself." in child
    assert "sla.freshness 6 h from policy 1.0.0" in child
    assert "country required true from policy 1.0.0" in child
    assert "order_id type string from" not in child
    assert "Readable by" not in child
    assert "Inherited from policies" not in alone
    assert "Readable by its owners, team sales" in alone


def test_static_site_has_every_linked_page(place: Shop) -> None:
    pages = list(contract_pages(place.registry, "orders", NOW))
    drawn = {file_path(page.link): render(page, RenderContext(NOW, is_static=True)) for page in pages}
    linked = {
        f"contracts/orders/{way.partition('#')[0]}"
        for text in drawn.values()
        for way in re.findall(r'href="(?:\.\./)*contracts/orders/([^"]+)"', text)
    }

    assert len(drawn) == len(pages)
    assert linked <= drawn.keys()
    assert all("<form" not in text for text in drawn.values())


@pytest.mark.parametrize("is_static", [False, True])
def test_former_owner_is_linked_only_if_it_has_a_page(tmp_path: Path, is_static: bool) -> None:
    with Registry.open(str(tmp_path / "registry.db")) as registry:
        registry.register(orders(owners=[{"team": "gone", "contact": "#gone"}, {"team": "stays", "contact": "#s"}]))
        registry.register(orders("1.0.1", owners=[{"team": "stays", "contact": "#s"}]))
        page = render(contract_page(registry, "orders", "1.0.0"), RenderContext(NOW, is_static=is_static))

    assert "<bdi>gone</bdi>" in page
    assert "teams/gone" not in page
    assert "teams/stays" in page


def test_domain_is_linked_on_live_pages_only(place: Shop) -> None:
    page = contract_page(place.registry, "orders", "1.0.0")

    assert 'href="/?domain=sales"' in render(page, RenderContext(NOW))
    assert "<bdi>sales</bdi></a>" not in render(page, RenderContext(NOW, is_static=True))


def test_version_pairs_are_with_previous_and_highest(place: Shop) -> None:
    pairs = version_pairs(load_contract_data(place.registry, "orders"))

    assert pairs == [("1.2.0", "2.0.0"), ("1.1.0", "1.2.0"), ("1.0.0", "1.1.0"), ("1.1.0", "2.0.0"), ("1.0.0", "2.0.0")]


def test_local_and_remote_registry_give_the_same_pages(place: Shop) -> None:
    def rendered(source: Registry | RegistryClient) -> list[str]:
        return [render(page, RenderContext(NOW)) for page in contract_pages(source, "orders", NOW)]

    with RegistryClient(place.address) as client:
        assert rendered(client) == rendered(place.registry)


def test_page_of_a_thousand_fields_is_small(tmp_path: Path) -> None:
    wide = document([field(f"field_{i:04}", description=f"The {i}th measure of an order.") for i in range(1_000)])
    with Registry.open(str(tmp_path / "registry.db")) as registry:
        registry.register(wide)
        registry.register({**wide, "version": "1.0.1", "name": "Wide"})
        page = render(contract_page(registry, "orders", now=NOW), RenderContext(NOW))

    assert page.count("<tr id=") == 1_000
    assert len(compress(page.encode(), 6)) < 250_000
