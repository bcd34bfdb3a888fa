"""`treaty diff`."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Treaty, Write

ID = {"name": "order_id", "logicalType": "string", "required": True}
TOTAL = {"name": "total", "logicalType": "number"}
CITY = {"name": "city", "logicalType": "string"}
PLAN = {"guide": "g", "window": "60 d", "owner": "checkout"}


def _orders(version: str, *fields: dict[str, Any], **rest: Any) -> dict[str, Any]:
    return {"version": version, "fields": [ID, *fields], **rest}


@pytest.fixture
def before(write: Write) -> str:
    return write("before.yaml", _orders("1.0.0", TOTAL))


def test_a_compatible_change_says_so_and_which_version_is_enough(treaty: Treaty, write: Write, before: str) -> None:
    result = treaty("diff", before, write("after.yaml", _orders("1.1.0", TOTAL, CITY)))

    assert result.code == 0
    assert "orders  1.0.0 → 1.1.0  backward" in result.output
    assert "✓  optional field 'city' added\n     MINOR · field_added" in result.output
    assert "compatible under backward" in result.output
    assert "1.1.0 is enough" in result.output


def test_a_breaking_change_says_whom_it_breaks_and_how_to_go_on(treaty: Treaty, write: Write, before: str) -> None:
    result = treaty("diff", before, write("after.yaml", _orders("1.1.0")))

    assert result.code == 3
    assert "✗  field 'total' was removed; old data will fail validation\n" in result.output
    assert "MAJOR · breaks existing data · field_removed" in result.output
    assert "not compatible under backward; refused" in result.output
    assert "these changes require 2.0.0 (MAJOR); 1.1.0 is declared" in result.output
    assert "set version: 2.0.0" in result.output
    assert "add a migration: block" in result.output
    assert "treaty explain field_removed" in result.output


def test_a_breaking_change_with_its_plan_is_admissible(treaty: Treaty, write: Write, before: str) -> None:
    result = treaty("diff", before, write("after.yaml", _orders("2.0.0", migration=PLAN)))

    assert result.code == 0
    assert "accepted as a new line with a migration plan" in result.output


MEANT = {"event": {"type": "ClassPublished", "meaning": "A class was created."}}
DRIFTED = {"event": {"type": "ClassPublished", "meaning": "A class was created, or updated significantly."}}


def test_a_changed_meaning_of_an_event_breaks_readers(treaty: Treaty, write: Write) -> None:
    result = treaty(
        "diff", write("old.yaml", _orders("1.0.0", **MEANT)), write("new.yaml", _orders("1.0.1", **DRIFTED))
    )

    assert result.code == 3
    assert "MAJOR · breaks existing readers · event_meaning_changed" in result.output
    assert "these changes require 2.0.0 (MAJOR); 1.0.1 is declared" in result.output


def test_a_rewording_that_an_owner_declares_is_a_patch(treaty: Treaty, write: Write) -> None:
    entry = {"version": "1.0.1", "changes": ["Reworded."], "editorial": True, "owner": "checkout"}
    new = _orders("1.0.1", **DRIFTED, changelog=[entry])

    result = treaty("diff", write("old.yaml", _orders("1.0.0", **MEANT)), write("new.yaml", new))

    assert result.code == 0
    assert "reworded, editorial according to checkout" in result.output
    assert "PATCH · event_meaning_reworded" in result.output


def test_an_editorial_entry_without_an_owner_is_refused(treaty: Treaty, write: Write) -> None:
    entry = {"version": "1.0.1", "changes": ["Reworded."], "editorial": True}
    new = write("new.yaml", _orders("1.0.1", **DRIFTED, changelog=[entry]))

    result = treaty("diff", write("old.yaml", _orders("1.0.0", **MEANT)), new)

    assert result.code == 3
    assert "'owner' is missing at changelog[0]; add 'owner'" in result.errors


def test_the_verdict_says_that_only_readers_break(treaty: Treaty, write: Write) -> None:
    fresh, stale = ({"slaProperties": [{"property": "freshness", "value": hours, "unit": "h"}]} for hours in (4, 400))
    old = write("fresh.yaml", _orders("1.0.0", **fresh))

    refused = treaty("diff", old, write("stale.yaml", _orders("2.0.0", **stale)))
    planned = treaty("diff", old, write("planned.yaml", _orders("2.0.0", migration=PLAN, **stale)))

    broken = "compatible with existing data; breaks existing readers"
    assert (refused.code, planned.code) == (3, 0)
    assert f"{broken}; refused: a change that requires MAJOR needs a" in " ".join(refused.output.split())
    assert f"{broken}; accepted as a new line with a migration plan" in " ".join(planned.output.split())


def test_the_same_version_twice_is_compatible_in_json(treaty: Treaty, before: str) -> None:
    result = treaty("diff", before, before, "--format", "json")

    answer = json.loads(result.output)
    assert (result.code, answer["compatible"], answer["admissible"], answer["findings"]) == (0, True, True, [])


def test_a_compatible_change_under_too_small_a_version_is_refused(treaty: Treaty, write: Write, before: str) -> None:
    result = treaty("diff", before, write("after.yaml", _orders("1.0.1", TOTAL, CITY)))

    assert result.code == 3
    assert "compatible under backward; refused: the version is too small" in result.output


def test_the_same_document_is_no_change(treaty: Treaty, before: str) -> None:
    result = treaty("diff", before, before)

    assert result.code == 0
    assert "no change" in result.output


def test_a_likely_rename_is_suggested(treaty: Treaty, write: Write, before: str) -> None:
    result = treaty("diff", before, write("after.yaml", _orders("2.0.0", {**TOTAL, "name": "total_amount"})))

    assert "total -> total_amount looks like a rename" in result.output
    assert "give both fields the same id" in result.output


def test_the_mode_is_asked_for_or_set_in_the_project(treaty: Treaty, write: Write, before: str) -> None:
    after = write("after.yaml", {"version": "1.1.0", "fields": [{**ID, "required": False}, TOTAL]})

    assert treaty("diff", before, after).code == 0
    assert treaty("diff", before, after, "--mode", "forward").code == 3
    write("treaty.yaml", "compatibility: full\n")
    assert treaty("diff", before, after).code == 3


def test_json_has_the_full_verdict(treaty: Treaty, write: Write, before: str) -> None:
    result = treaty("diff", "--format", "json", before, write("after.yaml", _orders("1.1.0")))

    verdict = json.loads(result.output)
    assert result.code == 3
    assert (verdict["compatible"], verdict["admissible"], verdict["mode"]) == (False, False, "backward")
    assert (verdict["required_bump"], verdict["declared_bump"], verdict["required_version"]) == (
        "MAJOR",
        "MINOR",
        "2.0.0",
    )
    assert verdict["changes"] == [
        {
            "kind": "field_removed",
            "path": "total",
            "field": "total",
            "direction": "removed",
            "before": "number, optional",
            "after": None,
            "bump": "MAJOR",
            "breaks": ["existing_data"],
            "severity": "error",
            "message": "field 'total' was removed; old data will fail validation",
        }
    ]


def test_sarif_points_to_the_line_of_the_field_in_the_new_document(treaty: Treaty, write: Write, before: str) -> None:
    changed = write("after.yaml", _orders("1.1.0", {**TOTAL, "logicalType": "string"}))

    log = json.loads(treaty("diff", "--format", "sarif", before, changed).output)

    lines = {
        one["ruleId"]: one["locations"][0]["physicalLocation"]["region"]["startLine"]
        for one in log["runs"][0]["results"]
    }
    text = Path("after.yaml").read_text().splitlines()
    assert "name: total" in text[lines["field_type_changed"] - 1]
    assert "version" in text[lines["version_bump_too_small"] - 1]


def test_a_removed_field_is_placed_where_it_stood(treaty: Treaty, write: Write, before: str) -> None:
    verdict = json.loads(treaty("diff", "--format", "json", before, write("after.yaml", _orders("2.0.0"))).output)

    places = {one["id"]: (one["source"], one["line"]) for one in verdict["findings"]}
    source, line = places["field_removed"]
    assert source == "before.yaml"
    assert "name: total" in Path(source).read_text().splitlines()[line - 1]


@pytest.mark.parametrize(
    ("after", "said"),
    [
        ({"version": "0.9.0"}, "must be strictly greater than '1.0.0'"),
        ({"version": "1.0.1", "owners": None}, "must declare at least one owner"),
    ],
)
def test_failed_check_is_reported_without_changes(
    treaty: Treaty, write: Write, before: str, after: dict[str, Any], said: str
) -> None:
    result = treaty("diff", before, write("after.yaml", {**_orders("1.0.0", TOTAL), **after}))

    assert result.code == 3
    assert "refused" in result.output
    assert said in result.output


def test_an_unknown_mode_is_a_wrong_call(treaty: Treaty, before: str) -> None:
    result = treaty("diff", before, before, "--mode", "sideways")

    assert result.code == 2
    assert "use one of: none, backward" in " ".join(result.errors.split())


def test_markdown_puts_breaking_changes_first(treaty: Treaty, write: Write, before: str) -> None:
    output = treaty("diff", "--format", "markdown", before, write("after.yaml", _orders("1.1.0", CITY))).output

    assert output.startswith("### ❌ `orders` `1.0.0` → `1.1.0`")
    assert output.index("`total`") < output.index("`city`")


def test_same_input_same_bytes(treaty: Treaty, write: Write, before: str) -> None:
    after = write("after.yaml", _orders("1.1.0", CITY))

    assert len({treaty("diff", "--format", "json", before, after).output for _ in range(3)}) == 1


@pytest.fixture
def repository(tmp_path: Path, write: Write) -> Path:
    """A git repository whose main branch has one contract."""
    write("contracts/orders.yaml", _orders("1.0.0", TOTAL))
    for command in (
        ["init", "--quiet", "--initial-branch", "main"],
        ["add", "contracts"],
        ["-c", "user.name=t", "-c", "user.email=t@example.com", "commit", "--quiet", "-m", "first"],
    ):
        subprocess.run(["git", *command], cwd=tmp_path, check=True)
    return tmp_path


def test_a_file_is_read_at_a_git_revision(treaty: Treaty, write: Write, repository: Path) -> None:
    write("contracts/orders.yaml", _orders("1.1.0"))

    result = treaty("diff", "git:main:contracts/orders.yaml", "contracts/orders.yaml")

    assert result.code == 3
    assert "field 'total' was removed" in result.output


@pytest.mark.parametrize(
    ("reference", "said"),
    [
        ("git:main:contracts/nothing.yaml", "git has no 'contracts/nothing.yaml' at 'main'"),
        ("git:no-such-branch:contracts/orders.yaml", "git has no 'contracts/orders.yaml' at 'no-such-branch'"),
        ("git:main", "write git:REF:path"),
        ("git:--output=x:contracts/orders.yaml", "write git:REF:path"),
    ],
)
def test_a_wrong_git_reference_gets_one_clear_error(
    treaty: Treaty, repository: Path, reference: str, said: str
) -> None:
    result = treaty("diff", reference, "contracts/orders.yaml")

    assert result.code == 1
    assert said in result.errors


def test_the_required_version_is_printed_alone(treaty: Treaty, write: Write, before: str) -> None:
    assert treaty("diff", "--version-only", before, write("a.yaml", _orders("1.0.0"))).output == "2.0.0\n"
    assert treaty("diff", "--version-only", before, write("b.yaml", _orders("1.0.0", TOTAL, CITY))).output == "1.1.0\n"
    assert treaty("diff", "--version-only", before, before).output == "1.0.0\n"


def test_the_required_version_has_its_reasons_in_json(treaty: Treaty, write: Write, before: str) -> None:
    output = treaty(
        "diff", "--version-only", "--format", "json", before, write("a.yaml", _orders("1.0.0", CITY))
    ).output

    assert json.loads(output) == {
        "version": "2.0.0",
        "bump": "MAJOR",
        "because": [{"kind": "field_removed", "path": "total"}],
    }


def test_a_version_in_another_notation_has_no_next_version(treaty: Treaty, write: Write, before: str) -> None:
    result = treaty("diff", "--version-only", write("v.yaml", _orders("v1")), before)

    assert result.code == 1
    assert "the version 'v1' of v.yaml is not MAJOR.MINOR.PATCH" in result.errors
