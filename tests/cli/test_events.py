"""`treaty events`: streams from contracts alone, deliberate violations, and sending to files, webhooks and topics."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from typer.testing import CliRunner, Result

from tests.events.gym_contracts import FOLDER
from treaty.cli.app import build_app, main

if TYPE_CHECKING:
    from tests.kafka import Kafka

GYM = str(FOLDER)


def events(*arguments: str, text: str | None = None) -> Result:
    return CliRunner().invoke(build_app(), ["events", *arguments], input=text)


def lines(text: str) -> list[Any]:
    return [json.loads(line) for line in text.splitlines()]


def test_events_are_cloud_events_on_standard_output_and_the_summary_is_not() -> None:
    found = events("generate", GYM, "--count", "6", "--seed", "a")

    assert [one["specversion"] for one in lines(found.stdout)] == ["1.0"] * 6
    assert found.stderr == "6 events of 2 keys: 1 ClassCancelled, 2 ClassPublished, 3 ClassUpdated\n"


def test_plain_events_are_written_to_a_file_with_their_type(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"

    found = events(
        *("generate", GYM, "--count", "3", "--as", "plain", "--type-field", "kind", "--output", str(path)),
        *("--start", "2026-05-01T08:00Z", "--interval", "2"),
    )

    assert (found.exit_code, found.stdout) == (0, "")
    assert next((one["kind"], one["occurredAt"]) for one in lines(path.read_text())) == (
        "ClassPublished",
        "2026-05-01T08:00:00Z",
    )


def test_a_violation_is_named_in_the_summary() -> None:
    found = events("generate", GYM, "--count", "40", "--violate", "content.closed", "--violate", "ordering.gaps")

    assert found.stderr.endswith("; violates content.closed, ordering.gaps\n")
    assert sum("surplus" in one["data"] for one in lines(found.stdout)) == 1


def test_live_events_happen_when_they_are_written() -> None:
    started = datetime.now(UTC)

    found = events("generate", GYM, "--count", "3", "--live", "200")

    times = [datetime.fromisoformat(one["time"]) for one in lines(found.stdout)]
    assert started < times[0] < times[1] < times[2] < datetime.now(UTC)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["generate", GYM, "--violate", "ordering.gap"], 2, "there is no check 'ordering.gap'; did you mean"),
        (["generate", GYM, "--type-field", "kind"], 2, "use it with --as plain"),
        (["generate", GYM, "--as", "plain"], 2, "the events have 3 types; name the field for them with --type-field"),
        (["generate", "classes"], 1, "classes is no contract file, and there is no registry at .treaty/registry.db"),
        (["generate", GYM, "--live", "5", "--start", "2026-01-01"], 2, "live events happen now"),
        (["generate", GYM, "--start", "yesterday"], 2, "'yesterday' is not a time"),
        (["generate", "missing.yaml"], 1, "there is no contract missing.yaml"),
        (["generate", GYM, "--violate", "delivery.duplicates"], 1, "delivery.duplicates cannot be violated"),
        (["generate", f"{GYM}/gym.scheduling.class_updated.yaml"], 1, "cannot be the first event of a key"),
        (["generate", GYM, "-n", "3", "-o", "no/folder/out.jsonl"], 1, "cannot write no/folder/out.jsonl"),
        (["send", "missing.jsonl", "out.jsonl"], 1, "cannot read missing.jsonl: No such file or directory"),
        (["send", "one.jsonl", "no/folder/out.jsonl"], 1, "cannot write no/folder/out.jsonl"),
        (["send", "one.jsonl", "http://127.0.0.1:9/"], 1, "cannot reach http://127.0.0.1:9/ after 0 events"),
        (["send", "one.jsonl", "kafka://127.0.0.1:9092"], 1, "is not a topic; write it like"),
        (["send", "one.jsonl", "ftp://127.0.0.1/x"], 1, "'ftp://127.0.0.1/x' is not a target; give kafka://"),
        (["send", "one.jsonl", "out.jsonl", "--security", "password"], 2, "write SETTING=VARIABLE"),
        (["send", "one.jsonl", "out.jsonl", "--security", "pasword=P"], 2, "'pasword'; did you mean 'password'?"),
    ],
)
def test_mistakes_are_explained(
    arguments: Sequence[str],
    code: int,
    message: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("one.jsonl").write_text("{}\n")
    monkeypatch.setattr(sys, "argv", ["treaty", "events", *arguments])

    with pytest.raises(SystemExit) as ended:
        main()

    assert ended.value.code == code
    assert message in " ".join(capsys.readouterr().err.replace("│", "").split())


@pytest.mark.parametrize("contracts", [GYM, f"{GYM}/gym.scheduling.class_published.yaml"])
def test_files_are_read_as_files_when_a_registry_is_named(contracts: str) -> None:
    found = events("generate", contracts, "--count", "1", "--registry", "none.db")

    assert (found.exit_code, [one["type"] for one in lines(found.stdout)]) == (0, ["ClassPublished"])


def test_lines_are_appended_to_a_file(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    path.write_text('{"n": 0}\n')

    found = events("send", "-", str(path), text='{"n": 1}\n\nnot json\n')

    assert found.stderr == f"sent 2 events to {path}\n"
    assert path.read_text() == '{"n": 0}\n{"n": 1}\nnot json\n'


class _Receiver(BaseHTTPRequestHandler):
    received: list[tuple[str | None, str]]
    refused = "no more"

    def do_POST(self) -> None:  # the name that the server calls
        body = self.rfile.read(int(self.headers["content-length"])).decode()
        self.received.append((self.headers["content-type"], body))
        self.send_response(503 if body == self.refused else 202)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  as the server calls it
        return


@contextmanager
def receiver() -> Iterator[tuple[str, list[tuple[str | None, str]]]]:
    _Receiver.received = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Receiver)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/", _Receiver.received
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def test_each_event_is_posted_to_a_webhook() -> None:
    sent = '{"specversion": "1.0", "type": "A", "data": {"n": 1}}\n{"n": 2}\n'

    with receiver() as (address, received):
        found = events("send", "-", address, text=sent)

    assert found.exit_code == 0
    assert received == [
        ("application/cloudevents+json", '{"specversion": "1.0", "type": "A", "data": {"n": 1}}'),
        ("application/json", '{"n": 2}'),
    ]


def test_a_webhook_that_refuses_an_event_ends_the_command() -> None:
    with receiver() as (address, received):
        found = events("send", "-", address, text='{"n": 1}\nno more\n{"n": 3}\n')

    assert str(found.exception) == f"{address} answered 503 to event 2; nothing more was sent"
    assert len(received) == 2


def test_cloud_events_are_records_with_headers_and_keys(kafka: Kafka) -> None:
    topic = kafka.create_topic("classes", partitions=2)
    event = {"specversion": "1.0", "type": "A", "id": "1", "partitionkey": "k", "data": {"n": 1}}

    found = events("send", "-", f"kafka://{kafka.bootstrap}/{topic}", text=f"{json.dumps(event)}\nplain\n")

    assert found.exit_code == 0, found.output
    assert sorted(kafka.consume(topic), key=str) == [(None, b"plain"), (b"k", b'{"n": 1}')]


def test_a_topic_that_does_not_exist_is_not_created(kafka: Kafka) -> None:
    found = events("send", "-", f"kafka://{kafka.bootstrap}/no-such-topic", text="{}\n")

    assert "no-such-topic" in str(found.exception)
