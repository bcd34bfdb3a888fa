"""Summary of a run: counts, JSON and terminal output."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from treaty.cli.render.pipeline_run import format_seconds, next_commands, print_run, summarize_run
from treaty.pipeline.maintenance import TableUpkeep, Upkeep
from treaty.pipeline.run.summary import Counts, Outcome, RunSummary, StepSummary
from treaty.pipeline.tables.table_files import RemovedFiles

STARTED = datetime(2026, 3, 1, 8, 0, 5, tzinfo=UTC)
STEPS = (
    StepSummary("order_placed", "raw", Outcome.DONE, "raw.order_placed", counts=Counts(rows_in=10_000), seconds=2.14),
    StepSummary(
        "order_placed",
        "events",
        Outcome.DONE,
        "events.order_placed",
        "KEYED",
        counts=Counts(rows_in=10_000, accepted=9_871, duplicate=120, quarantined=9),
        seconds=1.25,
    ),
    StepSummary(
        "order_capture",
        "products",
        Outcome.DONE,
        "products.order_capture",
        "KEYED",
        counts=Counts(valid=5_210, quarantined=3, out_of_order=12, gaps=2, deleted=1),
        seconds=3.9,
        remarks=("freshness:updated_at: the newest row is 90,000 s old",),
    ),
    StepSummary("returns", "products", Outcome.NOTHING_NEW, "products.returns"),
    StepSummary(
        "commercial_order",
        "reconciliation",
        Outcome.DONE,
        "reconciliation.commercial_order",
        "KEYED",
        counts=Counts(resolved=5_000, held=210, exceptions_opened=230, exceptions_closed=4),
        seconds=4.0,
    ),
)
GOOD = RunSummary(1_772_352_005_000, "retail", STARTED, 12.34, STEPS)
REFUSED = StepSummary(
    "finance_recognized_sale_v2",
    "publications",
    Outcome.REFUSED,
    "publications.finance_recognized_sale_v2",
    "FULL",
    counts=Counts(published=5_000),
    reasons=tuple(f"required:field_{number}: 3 rows break it" for number in range(7)),
    branch="run_1772352005000",
)
FAILED = StepSummary("partner", "publications", Outcome.FAILED, reasons=("sql/partner.sql:3: no such column",))
SKIPPED = StepSummary("timeline", "publications", Outcome.SKIPPED)
BAD = replace(GOOD, steps=(*STEPS, REFUSED, FAILED, SKIPPED))


def test_totals_are_the_sum_of_the_steps() -> None:
    assert GOOD.totals.nonzero() == {
        "rows_in": 20_000,
        "accepted": 9_871,
        "duplicate": 120,
        "quarantined": 12,
        "valid": 5_210,
        "out_of_order": 12,
        "gaps": 2,
        "resolved": 5_000,
        "held": 210,
        "exceptions_opened": 230,
        "exceptions_closed": 4,
        "deleted": 1,
    }
    assert [*GOOD.layers()] == ["raw", "events", "products", "reconciliation"]
    assert [step.name for step in GOOD.layers()["products"]] == ["order_capture", "returns"]


@pytest.mark.parametrize(
    ("outcome", "succeeds", "has_a_cause"),
    [
        (Outcome.DONE, True, False),
        (Outcome.NOTHING_NEW, True, False),
        (Outcome.REFUSED, False, True),
        (Outcome.FAILED, False, True),
        (Outcome.SKIPPED, False, False),
    ],
)
def test_one_step_decides_whether_a_run_succeeded(outcome: Outcome, succeeds: bool, has_a_cause: bool) -> None:
    run = replace(GOOD, steps=(*STEPS, StepSummary("last", "publications", outcome)))
    assert run.succeeded is succeeds
    assert bool(run.unsuccessful) is has_a_cause


def test_summary_as_json() -> None:
    data = json.loads(json.dumps(BAD.as_data()))
    assert (data["run"], data["succeeded"], data["seconds"]) == (1_772_352_005_000, False, 12.34)
    assert data["outcomes"] == {
        "done": 4,
        "nothing new": 1,
        "refused by audit": 1,
        "failed": 1,
        "skipped since upstream failed": 1,
    }
    assert data["totals"]["exceptions_opened"] == 230
    refused = data["steps"][5]
    assert refused["branch"] == "run_1772352005000"
    assert len(refused["reasons"]) == 7
    assert refused["rows"]["published"] == 5_000
    assert data["steps"][3] | {"rows": {}} == {
        "name": "returns",
        "layer": "products",
        "table": "products.returns",
        "outcome": "nothing new",
        "mode": None,
        "why": None,
        "rows": {},
        "seconds": 0.0,
        "reasons": [],
        "remarks": [],
        "branch": None,
        "set_apart": None,
    }
    assert (data["remarks"], data["set_apart"]) == (1, 0)


def drawn(run: RunSummary, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.setattr("treaty.cli.render.console.LOG_WIDTH", 100)
    print_run(run)
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines[1:])) <= 100  # the verdict is one line
    return lines


def test_successful_run_is_printed_by_layer(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = drawn(GOOD, capsys, monkeypatch)
    assert lines[0] == "! retail: 5 steps: 4 done, 1 nothing new, 1 remark, in 12.3 s"
    words = [" ".join(line.split()) for line in lines]
    assert "✓ order_placed by key 10,000 in · 9,871 accepted · 120 duplicate · 9 quarantined 1.2" in words
    assert "· returns nothing new" in words
    assert any(
        line.startswith("! order_capture by key 5,210 valid · 3 quarantined · 12 out of order") for line in words
    )
    assert any(line.startswith("freshness:updated_at: the newest row is 90,000 s old") for line in words)
    assert words[-1].endswith("treaty exceptions list")


def test_housekeeping_is_one_line_of_the_summary(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    orders = TableUpkeep("products.orders", RemovedFiles(40, 120, 3_355_443), is_compacted=True)
    run = replace(GOOD, maintenance=Upkeep((orders, TableUpkeep("raw.paid", problem="raw.paid: no space")), 0.5, 2))
    words = [" ".join(line.split()) for line in drawn(run, capsys, monkeypatch)]
    at = next(number for number, line in enumerate(words) if line.startswith("Housekeeping"))
    assert " ".join(words[at : at + 2]).startswith(
        "Housekeeping 40 old snapshots expired, 120 files removed (3.2 MiB), 1 table compacted, raw.paid: no space, "
        "2 tables left to the next run"
    )
    data = run.as_data()["maintenance"]
    assert (data["snapshots_expired"], data["files_removed"], data["compacted"]) == (40, 120, ["products.orders"])
    assert data["tables"][1]["problem"] == "raw.paid: no space"
    assert GOOD.as_data()["maintenance"] is None


def test_contracts_that_were_used_as_last_known_are_named(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = replace(GOOD, last_known=("shop.orders@1 1.2.0, as of 2026-02-27", "shop.paid@1 1.0.0, as of 2026-02-27"))
    words = [" ".join(line.split()) for line in drawn(run, capsys, monkeypatch)]
    at = words.index("Last known shop.orders@1 1.2.0, as of 2026-02-27")
    assert words[at + 1] == "shop.paid@1 1.0.0, as of 2026-02-27"
    assert run.as_data()["last_known"] == list(run.last_known)


def test_files_that_were_left_out_are_never_hidden(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    names = tuple(f"landing/{number}.csv: it is encoded in UTF-16; deliver it in UTF-8" for number in range(7))
    source = StepSummary("placed", "raw", Outcome.NOTHING_NEW, remarks=names, set_apart=8, newly_set_apart=7)
    words = [" ".join(line.split()) for line in drawn(replace(GOOD, steps=(source,)), capsys, monkeypatch)]
    assert words[0] == "! retail: nothing new, 7 remarks, in 12.3 s"
    assert "! placed nothing new · 8 files set apart" in words
    assert "landing/4.csv: it is encoded in UTF-16; deliver it in UTF-8" in words
    assert "and 2 more; --format json lists all" in words
    assert words[-1] == "Next see the files that were set apart: treaty read arrivals.placed --outcome 'set apart'"

    later = replace(source, remarks=(), newly_set_apart=0)
    words = [" ".join(line.split()) for line in drawn(replace(GOOD, steps=(later,)), capsys, monkeypatch)]
    assert "· placed nothing new · 8 files set apart" in words
    assert words[-1].startswith("Next see the files")


def test_refused_run_is_printed_with_reasons_and_branch(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = drawn(BAD, capsys, monkeypatch)
    assert lines[0] == (
        "✗ retail: 8 steps: 4 done, 1 nothing new, 1 refused by audit, 1 failed, 1 skipped, 1 remark, in 12.3 s"
    )
    text = "\n".join(lines)
    assert "finance_recognized_sale_v2: refused by audit" in text
    assert "required:field_4: 3 rows break it" in text
    assert "required:field_5" not in text
    assert "and 2 more" in text
    assert "in the branch run_1772352005000" in text
    assert "sql/partner.sql:3: no such column" in text
    assert "5,000 published" not in text


@pytest.mark.parametrize(
    ("run", "says"),
    [
        (replace(GOOD, steps=()), "retail: nothing to run, in 12.3 s"),
        (replace(GOOD, steps=(STEPS[3],), seconds=0.4), "retail: nothing new, in 0.4 s"),
        (replace(GOOD, steps=(SKIPPED,)), "retail: 1 step: 1 skipped, in 12.3 s"),
    ],
)
def test_verdict_is_one_line(run: RunSummary, says: str) -> None:
    assert summarize_run(run) == says


@pytest.mark.parametrize(
    ("steps", "begins"),
    [
        ((STEPS[0],), []),
        ((STEPS[1],), ["see quarantined rows"]),
        ((STEPS[2], STEPS[4]), ["see quarantined rows", "see the exceptions"]),
        ((REFUSED,), ["correct the SQL"]),
        ((FAILED,), ["fix the cause"]),
        ((replace(REFUSED, outcome=Outcome.DONE, branch=None),), ["read the published rows"]),
    ],
)
def test_next_commands_follow_from_what_happened(steps: tuple[StepSummary, ...], begins: list[str]) -> None:
    commands = list(next_commands(replace(GOOD, steps=steps)))
    assert [command for command, start in zip(commands, begins, strict=True) if not command.startswith(start)] == []


@pytest.mark.parametrize(
    ("amount", "says"), [(0, "0.0 s"), (59.94, "59.9 s"), (60, "1 min 0 s"), (3_725, "62 min 5 s")]
)
def test_durations_are_readable(amount: float, says: str) -> None:
    assert format_seconds(amount) == says
