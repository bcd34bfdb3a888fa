"""`treaty consumer`, `can-i-publish` and `can-i-retire`."""

from __future__ import annotations

import json
from io import StringIO

import pytest
from rich.console import Console

from tests.cli.conftest import Treaty, Write
from tests.cli.order_contracts import ID, V1, V1_WITH_CITY, V1_WITHOUT_TOTAL, V2
from tests.registry.backends import actor_with_role
from treaty.cli.render.consumers import render_affected
from treaty.registry.model import AffectedAnswer
from treaty.registry.service import Registry

CRITICAL = ("--class", "decision_automation")


@pytest.fixture(autouse=True)
def registered(treaty: Treaty, write: Write) -> None:
    """Orders, and sales that are made from them."""
    write("all/orders.yaml", V1)
    sales = {"id": "sales", "fields": [ID], "lineage": [{"contract": "orders", "fields": ["total"]}]}
    write("all/sales.yaml", sales)
    assert treaty("register", "all").code == 0


def test_a_consumer_says_what_it_reads(treaty: Treaty) -> None:
    result = treaty(
        "consumer", "subscribe", "ledger", "orders@1", *CRITICAL, "--field", "total", "--purpose", "Book it",
        "--latency", "1 h",
        "--contact", "#ledger", "--team", "finance",
    )  # fmt: skip

    assert result.code == 0
    for said in ("ledger reads orders@1", "total", "decision_automation", "Book it", "1 h", "#ledger", "finance"):
        assert said in result.output


def test_subscription_without_fields_prints_a_warning(treaty: Treaty) -> None:
    assert "no change counts as safe" in treaty("consumer", "subscribe", "notebook", "orders@1", *CRITICAL).output


def test_a_deprecated_line_warns_its_new_consumers(treaty: Treaty) -> None:
    treaty("version", "deprecate", "orders@1", "--plan", "https://example.com/plan")

    assert "orders@1 is deprecated" in treaty("consumer", "subscribe", "ledger", "orders@1", *CRITICAL).output


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("ledger", "orders@9", *CRITICAL), 1, "no line orders@9 is registered"),
        (("ledger", "orders", *CRITICAL), 1, "is not a line; write it like orders@1"),
        (("ledger", "orders@1", *CRITICAL, "--field", "nothing"), 1, "orders@1 has no field 'nothing'"),
        (("ledger", "orders@1", *CRITICAL, "--field", "a..b"), 1, "cannot read field path"),
        (("ledger", "orders@1", "--class", "important"), 2, "exploratory_analytics"),
        (("ledger", "orders@1"), 2, "--class"),
        ((" ", "orders@1", *CRITICAL), 1, "is not a valid name of a consumer"),
    ],
)
def test_a_subscription_that_cannot_be_is_one_clear_error(
    treaty: Treaty, arguments: tuple[str, ...], code: int, said: str
) -> None:
    result = treaty("consumer", "subscribe", *arguments)

    assert result.code == code
    assert said in " ".join(result.errors.split())
    assert "Traceback" not in result.errors


def test_subscriptions_are_listed_and_ended(treaty: Treaty) -> None:
    treaty("consumer", "subscribe", "ledger", "orders@1", *CRITICAL, "--field", "total")
    treaty("consumer", "subscribe", "shop", "sales@1", *CRITICAL)

    def names(*arguments: str) -> list[str]:
        page = json.loads(treaty("consumer", "list", *arguments, "--format", "json").output)
        return [one["consumer"] for one in page["items"]]

    assert names() == ["ledger", "shop"]
    assert names("--contract", "orders") == ["ledger"]
    assert names("--consumer", "shop") == ["shop"]
    assert "fields not declared" in treaty("consumer", "list").output
    assert treaty("consumer", "unsubscribe", "shop", "sales@1").output == "shop no longer reads sales@1\n"
    assert treaty("consumer", "unsubscribe", "shop", "sales@1").code == 1
    assert names() == ["ledger"]


def test_graph_is_printed_in_both_directions(treaty: Treaty) -> None:
    treaty("consumer", "subscribe", "shop", "sales@1", *CRITICAL)

    down, up = treaty("consumer", "graph", "orders").output, treaty("consumer", "graph", "shop", "--up").output

    assert down.startswith("orders@1  is used by\n└── sales@1\n    └── shop  consumer\n")
    assert up.startswith("shop  depends on\n└── sales@1\n    └── orders@1\n")
    assert "shop" not in treaty("consumer", "graph", "orders", "--down", "--depth", "1").output
    assert treaty("consumer", "graph", "orders", "--up").output == "orders@1 depends on nothing\n"
    assert "neither a line nor a consumer is called" in treaty("consumer", "graph", "nobody").errors


def test_impact_is_listed_by_field(treaty: Treaty, write: Write) -> None:
    treaty("consumer", "subscribe", "ledger", "orders@1", *CRITICAL, "--field", "total")
    treaty("consumer", "subscribe", "shop", "sales@1", *CRITICAL)

    result = treaty("consumer", "impact", write("next.yaml", V1_WITHOUT_TOTAL))

    assert result.code == 0
    assert "✗  ledger  decision_automation · critical\n     reads total" in result.output
    assert "✗  sales@1  derived from it" in result.output
    assert "Downstream (1)\n    shop" in result.output
    assert "these changes require 2.0.0; 1.1.0 is declared" in result.output


def test_impact_without_consumers(treaty: Treaty, write: Write) -> None:
    assert "no consumers of other@1" in treaty("consumer", "impact", write("other.yaml", {**V1, "id": "other"})).output


@pytest.mark.parametrize(
    ("after", "code", "answer"), [(V1_WITH_CITY, 0, True), (V1_WITHOUT_TOTAL, 3, False), (V2, 0, True)]
)
def test_publishing_is_a_yes_or_a_no(
    treaty: Treaty, write: Write, after: dict[str, object], code: int, answer: bool
) -> None:
    file = write("next.yaml", after)

    drawn, data = treaty("can-i-publish", file), treaty("can-i-publish", file, "--format", "json")

    assert (drawn.code, data.code) == (code, code)
    assert f"be published?  {'yes' if answer else 'no'}" in drawn.output
    assert json.loads(data.output)["answer"] is answer


def test_a_no_names_those_who_are_hit(treaty: Treaty, write: Write) -> None:
    treaty("consumer", "subscribe", "ledger", "orders@1", *CRITICAL, "--field", "total", "--contact", "#ledger")

    output = treaty("can-i-publish", write("next.yaml", V1_WITHOUT_TOTAL)).output

    assert "ledger  decision_automation · critical · #ledger\n     reads total" in output


def test_changed_fields_say_if_they_are_read_as_declared() -> None:
    affected = AffectedAnswer(
        name="ledger",
        kind="consumer",
        effect="hit",
        fields=["total", "items.sku", "tax"],
        path=["orders@1", "ledger"],
        unread_fields=["total"],
        undeclared_fields=["items"],
    )
    console = Console(width=100, record=True, file=StringIO())

    render_affected(console, [affected, affected.model_copy(update={"path": ["orders@1", "sales@1", "ledger"]})])

    assert [line.strip() for line in console.export_text().splitlines() if "total" in line] == [
        "reads total (declared, not read), items.sku (read, not declared), tax",
        "depends on total, items.sku, tax",
    ]


def test_retiring_is_a_no_with_names_and_dates(treaty: Treaty) -> None:
    treaty("consumer", "subscribe", "ledger", "orders@1", *CRITICAL, "--field", "total")
    treaty("version", "deprecate", "orders@1", "--plan", "https://example.com/plan")

    result = treaty("can-i-retire", "orders@1")

    assert result.code == 3
    assert "orders 1.0.0 is deprecated until its sunset on 20" in result.output
    assert "ledger still reads orders@1" in result.output
    assert treaty("can-i-retire", "orders@1", "--version", "1.0.0", "--format", "json").code == 3


def test_retiring_what_is_gone_is_a_yes(treaty: Treaty) -> None:
    treaty("version", "archive", "sales", "1.0.0")

    assert treaty("can-i-retire", "sales@1").code == 0


def test_a_version_that_is_more_than_enough_is_no_remark(treaty: Treaty, write: Write) -> None:
    assert (
        "these changes require"
        not in treaty("consumer", "impact", write("next.yaml", {**V1_WITH_CITY, "version": "1.2.0"})).output
    )


def test_compatible_change_is_safe_for_consumers_without_fields(treaty: Treaty, write: Write) -> None:
    treaty("consumer", "subscribe", "notebook", "orders@1", *CRITICAL)

    for command in (("can-i-publish",), ("consumer", "impact")):
        output = treaty(*command, write("next.yaml", V1_WITH_CITY)).output
        assert "Safe: no action needed (2)\n    notebook, sales@1" in output
        assert "they read none of the changed fields" not in output


def test_a_version_that_would_only_be_proposed_is_a_no(treaty: Treaty, write: Write) -> None:
    treaty("consumer", "subscribe", "ledger", "orders@1", *CRITICAL, "--field", "total")
    file = write("next.yaml", V2)

    result = treaty("can-i-publish", file)

    assert result.code == 3
    assert "be published?  no" in result.output
    assert "it waits for acknowledgement by ledger; register it: it is proposed" in " ".join(result.output.split())
    assert "orders 2.0.0  proposed" in treaty("register", file).output


BAD_DAY = """\
dataset_id: orders.late
version: 1.0.0
status: active
owners: [{team: checkout}]
deprecation:
  announced: "2026-12-03"
  sunset_date: %s
fields: [{name: a, type: string}]
"""
BAD_ODCS = """\
apiVersion: v3.1.0
kind: DataContract
id: orders.late
version: 1.0.0
status: active
owners: [{team: checkout}]
expires: "2027-02-30"
schema: [{name: a, properties: [{name: id, logicalType: string}]}]
"""
BAD_ID = BAD_ODCS.replace("orders.late", '"a b/../c"').replace("02-30", "02-28")


@pytest.mark.parametrize("home", ["file", "server"])
@pytest.mark.parametrize(
    ("document", "said"),
    [
        ("a: [1", "next.yaml:2: not valid YAML"),
        (BAD_DAY % "soon", "next.yaml:7: 'soon' is not a date at deprecation.sunset_date"),
        (BAD_DAY % "2027-13-45", "next.yaml:7: '2027-13-45' is not a date at deprecation.sunset_date; write it like"),
        (BAD_ODCS, "next.yaml:7: '2027-02-30' is not a date at expires"),
        (BAD_ID, "next.yaml:3: the id 'a b/../c' has an empty or dotted part"),
    ],
)
def test_a_document_that_cannot_be_read_is_a_finding_with_its_file_and_line(
    treaty: Treaty, write: Write, request: pytest.FixtureRequest, home: str, document: str, said: str
) -> None:
    file = write("next.yaml", document)
    where = ("--registry", request.getfixturevalue("served")) if home == "server" else ()

    for command in (
        ("register",),
        ("can-i-publish",),
        (
            "consumer",
            "impact",
        ),
        ("policy", "check"),
    ):
        result = treaty(*command, file, *where)
        assert result.code == 3, command
        assert said in " ".join((result.output + result.errors).split()), command


def test_what_is_no_document_is_still_a_failure(treaty: Treaty) -> None:
    for command in (
        ("register",),
        ("can-i-publish",),
        (
            "consumer",
            "impact",
        ),
        ("policy", "check"),
    ):
        assert treaty(*command, "nothing.yaml").code == 1


def test_a_declared_consumer_is_challenged_and_confirmed(treaty: Treaty, write: Write) -> None:
    with Registry.open(".treaty/registry.db") as registry:
        rival = registry.acting_as(actor_with_role("rita", "owner", "rivals"))
        rival.consumers.subscribe("filing", "orders@1", consumer_class="external_regulatory", team="audit")

    challenged = treaty("consumer", "challenge", "filing", "orders@1")
    listed = treaty("consumer", "list")
    registered = treaty("register", write("v2.yaml", V2))
    confirmed = treaty("consumer", "confirm", "filing", "orders@1")

    assert "filing is challenged on orders@1: audit has until" in challenged.output
    assert "audit · challenged, unconfirmed; counts until" in " ".join(listed.output.split())
    assert "not waited for, because unconfirmed: filing" in " ".join(registered.output.split())
    assert confirmed.output == "filing reads orders@1, confirmed by audit\n"
    assert treaty("consumer", "challenge", "filing", "orders@1").code == 3
    assert treaty("consumer", "confirm", "nobody", "orders@1").code == 1
