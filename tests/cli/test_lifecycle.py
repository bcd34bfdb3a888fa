"""The life cycle through commands: deprecation by option and by document, and the future with --now."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest

from tests.cli.conftest import Treaty, Write
from tests.cli.order_contracts import V1

GUIDE = "https://example.com/plan"
TODAY = datetime.now(UTC).date()
DEPRECATED = {**V1, "status": "deprecated", "deprecation": {"replacement": "orders-v2", "migration_guide": GUIDE}}


@pytest.fixture(autouse=True)
def registered(treaty: Treaty, write: Write) -> None:
    assert treaty("register", write("orders.yaml", V1)).code == 0
    assert treaty("consumer", "subscribe", "ledger", "orders@1", "--class", "operational_reporting").code == 0


def day(after: int) -> str:
    return (TODAY + timedelta(days=after)).isoformat()


def test_a_deprecation_says_where_why_and_when(treaty: Treaty) -> None:
    result = treaty(
        *("version", "deprecate", "orders@1", "--replacement", "orders@2", "--migration-guide", GUIDE),
        *("--reason", "orders have lines now", "--announced", day(10), "--sunset-date", day(60)),
    )

    assert " ".join(result.output.split()) == (
        f"orders 1.0.0 is active; deprecated from {day(10)}; sunset on {day(60)}, may be retired from {day(67)}. "
        "Migrate to: orders@2"
    )
    shown = " ".join(treaty("show", "orders").output.split())
    assert f"Migrate to orders@2 Plan {GUIDE} Reason orders have lines now" in shown
    (notice,) = json.loads(treaty("admin", "notices", "--party", "ledger", "-f", "json").output)["items"]
    assert notice["headline"].startswith(f"orders@1 will be deprecated on {day(10)}; sunset on {day(60)}")


def test_a_deprecation_without_a_way_on_is_a_wrong_call(treaty: Treaty) -> None:
    result = treaty("version", "deprecate", "orders@1")

    assert result.code == 2
    assert "--replacement NAME" in result.errors


@pytest.mark.parametrize("home", ["file", "server"])
def test_the_version_is_registered_again_with_another_status(
    treaty: Treaty, write: Write, request: pytest.FixtureRequest, home: str
) -> None:
    where = ("--registry", request.getfixturevalue("served")) if home == "server" else ()
    assert treaty("register", "orders.yaml", *where).code == 0
    file = write("orders.yaml", DEPRECATED)

    dry = treaty("register", file, "--dry-run", *where)
    result = treaty("register", file, *where)
    again = treaty("register", file, *where)

    assert (dry.code, result.code, again.code) == (0, 0, 0)
    assert "would update" in dry.output
    told = " ".join(result.output.split())
    assert f"orders 1.0.0 updated orders@1 is deprecated; sunset on {day(30)}, retirement from {day(37)}." in told
    assert "Migrate to: orders-v2" in told
    assert "unchanged" in again.output
    assert "orders  1.0.0  deprecated" in treaty("show", "orders", *where).output


def test_a_dry_run_refuses_what_the_registration_would_refuse(treaty: Treaty, write: Write) -> None:
    soon = {**DEPRECATED, "deprecation": {"replacement": "orders-v2", "sunset_date": day(29)}}
    file = write("orders.yaml", soon)

    results = [treaty("register", file, "--dry-run"), treaty("register", file), treaty("can-i-publish", file)]

    assert [result.code for result in results] == [3, 3, 3]
    for result in results:
        told = " ".join(result.output.split())
        assert f"the sunset {day(29)} is less than 30 days after {day(0)}; use {day(30)} or later" in told
    assert treaty("can-i-publish", write("orders.yaml", DEPRECATED)).code == 0


def test_any_other_change_of_a_registered_version_is_a_conflict(treaty: Treaty, write: Write) -> None:
    result = treaty("register", write("orders.yaml", {**DEPRECATED, "description": {"purpose": "another"}}))

    assert result.code == 3
    assert "registered with different content" in " ".join(result.output.split())


def test_show_and_can_i_retire_show_the_future(treaty: Treaty) -> None:
    treaty("version", "deprecate", "orders@1", "--replacement", "orders@2")
    treaty("consumer", "unsubscribe", "ledger", "orders@1")

    assert "orders  1.0.0  deprecated" in treaty("show", "orders").output
    assert "orders  1.0.0  sunset" in treaty("show", "orders", "--now", day(30)).output
    assert treaty("can-i-retire", "orders@1", "--now", day(36)).code == 3
    assert treaty("can-i-retire", "orders@1", "--now", f"{day(37)}T00:00Z").code == 0
    assert "orders  1.0.0  deprecated" in treaty("show", "orders").output


def test_a_dry_tick_shows_what_is_due_and_sends_nothing(treaty: Treaty) -> None:
    treaty("version", "deprecate", "orders@1", "--replacement", "orders@2")

    assert treaty("admin", "tick", "--dry-run").output == "nothing is due\n"
    result = treaty("admin", "tick", "--dry-run", "--now", day(30))

    assert result.output == "orders 1.0.0 is now sunset (was deprecated): its sunset was due\n"
    assert len(json.loads(treaty("admin", "notices", "--party", "ledger", "-f", "json").output)["items"]) == 1


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("admin", "tick", "--now", "2999-01-01"), "it needs --dry-run"),
        (("show", "orders", "--now", "soon"), "'soon' is not a time; write it like 2026-12-31"),
        (("lint", "orders.yaml", "--as-of", "2026-01-01"), "No such option: --as-of"),
        (("check", "--as-of", "2026-01-01"), "No such option: --as-of"),
    ],
)
def test_a_wrong_time_is_one_clear_error(treaty: Treaty, arguments: tuple[str, ...], expected: str) -> None:
    result = treaty(*arguments)

    assert result.code == 2
    assert expected in " ".join(result.errors.replace("│", " ").split())
