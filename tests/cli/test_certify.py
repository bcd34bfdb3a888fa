"""`treaty certify`: files, commands, webhooks and topics, bounded by count and time, and clear errors."""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
import yaml
from typer.testing import CliRunner, Result

from treaty.cli.app import build_app, main
from treaty.cli.publishers import Captured, Command, Limits, RecordFiles, Topic, Webhook, capture, parse_publisher
from treaty.errors import InvalidDocument, NotFound, Unavailable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tests.kafka import Kafka

DOCUMENT: dict[str, Any] = {
    "apiVersion": "v3.2.0",
    "kind": "DataContract",
    "id": "gym.class_published",
    "version": "1.0.0",
    "status": "active",
    "event": {"type": "ClassPublished"},
    "ordering": {"key": ["classId"], "sequence": "n"},
    "delivery": {"guarantee": "at_least_once"},
    "content": "closed",
    "schema": [
        {
            "name": "class_published",
            "properties": [
                {"name": "classId", "logicalType": "string", "required": True},
                {"name": "n", "logicalType": "integer", "required": True},
                {"name": "room", "logicalType": "string"},
            ],
        }
    ],
}


@pytest.fixture
def contract(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Write the contract, and work in a folder without a project."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "contracts" / "class_published.yaml"
    path.parent.mkdir()
    path.write_text(yaml.safe_dump(DOCUMENT), encoding="utf-8")
    return str(path)


def lines(*events: Any) -> str:
    return "".join(json.dumps(event) + "\n" for event in events)


def certify(*arguments: str) -> Result:
    return CliRunner().invoke(build_app(), ["certify", *arguments])


GOOD = lines({"classId": "a", "n": 1}, {"classId": "a", "n": 2, "room": "blue"})


def test_a_file_is_certified_under_the_contracts_of_a_folder(
    spark: SparkSession, contract: str, tmp_path: Path
) -> None:
    (tmp_path / "native.jsonl").write_text(GOOD)

    found = certify("native.jsonl", "--contract", str(Path(contract).parent))

    assert found.exit_code == 0, found.output
    assert found.output.splitlines()[:3] == [
        "native",
        "2 events of 1 key from native.jsonl",
        "  ClassPublished: gym.class_published 1.0.0, 2 events",
    ]
    assert "certified: no check failed" in found.output
    assert "no certificate was issued: there is no registry" in found.stderr
    assert "✓ ordering.gaps         The sequence of a key has no gaps" in found.output
    assert "– lifecycle.move        not checked: the contract states no life cycle" in found.output


def test_a_command_that_breaks_the_contract_is_not_certified(
    spark: SparkSession, contract: str, tmp_path: Path
) -> None:
    (tmp_path / "leaky.py").write_text('print(\'{"classId": "a", "n": 1, "notes": "x"}\')')

    found = certify(f"run:{sys.executable} leaky.py", "-c", contract, "--format", "json")
    answer = json.loads(found.output)

    assert found.exit_code == 3
    assert (answer["publisher"], answer["passed"], answer["evidence"]["bounded_by"]) == ("leaky", False, None)
    (failed,) = (check for check in answer["checks"] if check["outcome"] == "failed")
    assert (failed["id"], failed["examples"][0]["key"], failed["examples"][0]["field"]) == (
        "content.closed",
        "a",
        "notes",
    )
    assert [one["name"] for one in answer["coverage"] if not one["seen"]] == ["room"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["none.jsonl"], "none.jsonl does not exist; check the path"),
        (["kafka://127.0.0.1:9092"], "is not a topic; write it like kafka://127.0.0.1:9092/classes"),
        (["https://example.org/events"], "events are not fetched from the web; let it post to webhook://127.0.0.1"),
        (["webhook://0.0.0.0:80"], "is not an address of this machine, and receivers are not open to others"),
        (["run:"], "run: needs a command"),
        (["run:no-such-program --now"], "cannot run no-such-program --now: No such file or directory"),
        (["run:'broken"], 'cannot read the command "\'broken": No closing quotation'),
        (["empty.jsonl", "-c", "missing.yaml"], "there is no contract missing.yaml"),
        (["empty.jsonl", "-c", "nothing"], "nothing has no event contracts"),
        (["empty.jsonl", "-c", "contracts", "-c", "contracts"], "are about the same event type ClassPublished"),
    ],
)
def test_what_cannot_be_certified_is_said_before_spark_starts(
    arguments: Sequence[str],
    message: str,
    contract: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    Path("empty.jsonl").touch()
    Path("nothing").mkdir()
    given = arguments if "-c" in arguments else [*arguments, "-c", contract]
    monkeypatch.setattr(sys, "argv", ["treaty", "certify", *given])

    with pytest.raises(SystemExit) as ended:
        main()

    assert ended.value.code == 1
    assert message in capsys.readouterr().err


def kept(captured: Captured) -> list[dict[str, Any]]:
    return [json.loads(line) for line in captured.path.read_text().splitlines()]


FOREVER = "import itertools\nfor n in itertools.count(1): print('{\"n\": %d}' % n, flush=True)"
SILENT = "import time\nprint('{\"n\": 1}', flush=True)\ntime.sleep(600)"


@pytest.mark.parametrize(
    ("program", "limits", "count", "bounded_by"),
    [(FOREVER, Limits(1_500, 60), 1_500, "1,500 events"), (SILENT, Limits(10, 0.7), 1, "0.7 s")],
)
def test_a_command_that_never_ends_is_stopped_at_a_limit(
    program: str, limits: Limits, count: int, bounded_by: str, tmp_path: Path
) -> None:
    found = capture(Command((sys.executable, "-c", program)), tmp_path, limits, live=True)

    assert (found.count, found.bounded_by, len(kept(found))) == (count, bounded_by, count)
    assert found.has_arrival_times


def test_a_command_that_fails_is_reported_with_its_last_line(tmp_path: Path) -> None:
    program = "import sys\nprint('{}')\nprint('Traceback', file=sys.stderr)\nsys.exit('no database')"

    with pytest.raises(Unavailable, match="ended with exit code 1: no database"):
        capture(Command((sys.executable, "-c", program)), tmp_path, Limits(10, 30), live=False)


def test_a_line_without_end_is_refused(tmp_path: Path) -> None:
    program = "import sys\nwhile True: sys.stdout.write('x' * 100000)"

    with pytest.raises(InvalidDocument, match="prints a line of more than 1,000,000 bytes"):
        capture(Command((sys.executable, "-c", program)), tmp_path, Limits(10, 30), live=False)


@pytest.fixture
def announced(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What a receiver prints on standard error."""
    texts: list[str] = []
    monkeypatch.setattr("treaty.cli.webhook_receiver.typer.echo", lambda text, err: texts.append(text))
    return texts


def post(address: str, body: str, **headers: str) -> int:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    request = Request(address, body.encode(), named, method="POST")  # noqa: S310  a loopback address
    try:
        with urlopen(request, timeout=10) as answer:  # noqa: S310
            return int(answer.status)
    except HTTPError as error:
        return error.code


def test_a_webhook_receives_single_events_lists_and_lines(announced: list[str], tmp_path: Path) -> None:
    captured: list[Captured] = []
    thread = threading.Thread(
        target=lambda: captured.append(capture(Webhook("127.0.0.1", 0), tmp_path, Limits(5, 30), live=False))
    )
    thread.start()
    deadline = time.monotonic() + 20
    while not announced and time.monotonic() < deadline:
        time.sleep(0.02)
    address = announced[0].split()[3]

    statuses = [
        post(address, '{"n": 1}', ce_type="ClassPublished"),
        post(address + "events", '[{"n": 2}, {"n": 3}]'),
        post(address, '{"n": 4}\n{"n": 5}\n', content_type="application/x-ndjson"),
    ]
    thread.join(20)

    assert statuses == [202, 202, 202]
    assert announced == [f"post events to {address} for 30 s"]
    assert captured[0].bounded_by == "5 events"
    assert [(json.loads(one["payload"])["n"], one["type"]) for one in kept(captured[0])] == [
        (1, "ClassPublished"),
        *((n, None) for n in range(2, 6)),
    ]


def test_a_webhook_that_nobody_posts_to_ends(announced: list[str], tmp_path: Path) -> None:
    assert capture(Webhook("127.0.0.1", 0), tmp_path, Limits(5, 0.2), live=False).count == 0


def test_a_topic_is_read_to_its_present_end(kafka: Kafka, tmp_path: Path) -> None:
    from tests.kafka import Record

    topic = kafka.create_topic("classes", partitions=2, message_timestamp_type="LogAppendTime")
    typed = (("ce_type", b"ClassPublished"),)
    kafka.produce(
        topic, [Record(b'{"n": 1}', partition=0, headers=typed), Record(b'{"n": 2}', partition=1), Record(None)]
    )

    found = capture(Topic(kafka.bootstrap, topic), tmp_path, Limits(100, 30), live=False)

    records = sorted(kept(found), key=lambda one: (one["partition"], one["payload"] or "~"))
    assert (found.count, found.bounded_by, found.has_arrival_times, found.has_partitions) == (3, None, True, True)
    assert [(one["partition"], one["payload"], one["type"]) for one in records] == [
        ("0", '{"n": 1}', "ClassPublished"),
        ("0", "", None),
        ("1", '{"n": 2}', None),
    ]
    assert capture(Topic(kafka.bootstrap, topic), tmp_path, Limits(2, 30), live=False).bounded_by == "2 events"
    with pytest.raises(NotFound, match="there is no topic"):
        capture(Topic(kafka.bootstrap, "no-such-topic"), tmp_path, Limits(2, 30), live=False)


def test_publishers_are_recognized() -> None:
    assert parse_publisher("out/*.jsonl", {}) == RecordFiles("out/*.jsonl")
    assert parse_publisher("run:python adapter.py --seed 1", {}).name == "adapter"
    assert parse_publisher("kafka://k1:9092,k2:9092/classes", {}) == Topic("k1:9092,k2:9092", "classes")
    assert parse_publisher("webhook://localhost", {}) == Webhook("localhost", 0)


def test_comparisons_add_up_to_a_report(spark: SparkSession, contract: str, tmp_path: Path) -> None:
    (tmp_path / "native.jsonl").write_text(GOOD)
    (tmp_path / "adapter.jsonl").write_text(GOOD)
    (tmp_path / "broken.jsonl").write_text(GOOD.replace('"a"', '"b"'))
    call = ["--compare", "native.jsonl", "-c", contract, "--report", "report.json"]

    agreed = certify(*call, "adapter.jsonl", "--now", "2026-11-01")
    differs = certify(*call, "broken.jsonl", "--name", "native", "--name", "adapter", "--now", "2026-11-02")
    other = certify(*call, "broken.jsonl")

    assert (agreed.exit_code, agreed.output.splitlines()[-1]) == (0, "interchangeable for these contracts")
    assert differs.exit_code == 3
    assert "key a: only the first publisher has the key; 1 key" in differs.output
    assert "interchangeable in 1 of 2 comparisons since 2026-11-01 00:00" in differs.output
    assert str(other.exception) == (
        "the report is about other publishers, native and adapter; choose another file with --report"
    )
    report = json.loads((tmp_path / "report.json").read_text())
    assert [one["interchangeable"] for one in report["comparisons"]] == [True, False]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["a.jsonl", "b.jsonl"], "give one publisher, or two with --compare, not 2"),
        (["--compare", "a.jsonl"], "--compare takes two publishers, not 1"),
        (["a.jsonl", "--report", "r.json"], "it needs --compare"),
        (["--compare", "a.jsonl", "b.jsonl", "--name", "a"], "give it twice, or not at all"),
    ],
)
def test_options_that_do_not_fit_are_refused(arguments: Sequence[str], message: str, contract: str) -> None:
    found = certify(*arguments, "-c", contract)

    assert found.exit_code == 2
    assert message in " ".join(found.output.replace("│", " ").split())


def run(*arguments: str) -> Result:
    return CliRunner().invoke(build_app(), list(arguments))


def test_a_certificate_is_issued_shown_demanded_and_revoked(spark: SparkSession, contract: str, tmp_path: Path) -> None:
    (tmp_path / "native.jsonl").write_text(GOOD)
    policy = {**DOCUMENT, "id": "enterprise.events", "tier": "enterprise", "owners": [{"team": "platform"}]}
    for key in ("event", "ordering", "delivery", "content", "schema"):
        del policy[key]
    policy["require"] = [{"name": "certified", "for": "contract", "must": {"certificate": True}}]
    (tmp_path / "policy.yaml").write_text(yaml.safe_dump(policy))
    child = DOCUMENT | {"parent": "enterprise.events", "tier": "product", "owners": [{"team": "scheduling"}]}
    Path(contract).write_text(yaml.safe_dump(child))
    for path in ("policy.yaml", contract):
        assert run("register", path).exit_code == 0
    line = "gym.class_published@1"

    before = run("certificate", "check", line, "native")
    issued = certify("native.jsonl", "-c", contract, "--days", "10", "--now", "2026-11-19")
    identity = json.loads(run("certificate", "list", "-f", "json").output)["items"][0]["id"]
    shown = run("certificate", "show", identity)
    listed = run("show", "gym.class_published")
    after = run("certificate", "check", line, "native")
    revoked = run("certificate", "revoke", identity, "--reason", "replaced")

    assert (before.exit_code, after.exit_code) == (3, 0)
    assert f"issued certificate {identity} for {line} until" in issued.output
    assert "native for gym.class_published@1" in shown.output
    assert "✓ identity.conflict     One identity has one content" in shown.output
    assert f"{identity}  native     gym.class_published@1  1.0.0    valid" in listed.output
    assert "Revoked" in revoked.output
    assert run("certificate", "check", line, "native").exit_code == 3
