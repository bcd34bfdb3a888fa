"""The story of the gym: one contract, three publishers, and a consumer that does not notice which of them it reads.

`make demo-gym` tells it in a minute. Everything runs in one process, with one Spark; no Kafka is needed. If a local
broker runs (`treaty kafka up`), the events also go through a topic.
"""

from __future__ import annotations

import io
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

from treaty.cli.app import build_app, exit_code
from treaty.errors import TreatyError

HERE = Path(__file__).parent
RESULTS = r"^may |^issued|✗|^    \d|^certified|^not certified|interchangeable|^key|events of|does not keep"
Show = Callable[[str], None]


@dataclass(frozen=True)
class Step:
    """A part of the story: what happens, and the commands with the exit codes that they end with."""

    title: str
    commands: tuple[tuple[str, int], ...]
    lines: str = "."
    """The lines of the output that are shown, as a regular expression."""


STORY = (
    Step(
        "1. Three event types share one life cycle. Generated events test a consumer, and so do faulty ones.",
        (
            ("treaty events generate contracts --count 300 --output generated.jsonl", 0),
            ("treaty events generate contracts --count 300 --violate ordering.gaps --output faulty.jsonl", 0),
            ("treaty certify faulty.jsonl --contract contracts", 3),
        ),
        RESULTS,
    ),
    Step(
        "2. Three publishers report the same classes: the platform's, and adapters of two legacy systems. A policy "
        "demands certificates.",
        (
            ("python publishers/native.py > native.jsonl", 0),
            ("python publishers/club_adapter.py > club.jsonl", 0),
            ("python publishers/desk_adapter.py > desk.jsonl", 0),
            ("treaty register policies contracts", 0),
            ("treaty certificate check gym.scheduling.class_published@1 native", 3),
            ("treaty certify native.jsonl --contract contracts", 0),
            ("treaty certificate check gym.scheduling.class_published@1 native", 0),
        ),
        RESULTS,
    ),
    Step(
        "3. Both adapters keep the contracts, too, and are interchangeable with the publisher of the platform.",
        (
            ("treaty certify --compare native.jsonl club.jsonl --contract contracts", 0),
            ("treaty certify --compare native.jsonl desk.jsonl --contract contracts", 0),
        ),
        RESULTS,
    ),
    Step(
        "4. Reservation builds its schedule from the events. At noon an adapter takes over, and repeats some events.",
        (
            ("head -n 168 native.jsonl > before.jsonl", 0),
            ("tail -n +160 club.jsonl > after.jsonl", 0),
            ("python consumers/reservation.py native.jsonl > schedule.native.jsonl", 0),
            ("python consumers/reservation.py before.jsonl after.jsonl > schedule.swapped.jsonl", 0),
            ("cmp schedule.native.jsonl schedule.swapped.jsonl", 0),
        ),
    ),
    Step(
        "5. Three publishers are not certified: one swaps events, one leaks notes, one drifts to local time.",
        (
            ("python publishers/swapped_order.py > swapped.jsonl", 0),
            ("treaty certify swapped.jsonl --contract contracts", 3),
            ("python publishers/leaky.py > leaky.jsonl", 0),
            ("treaty certify leaky.jsonl --contract contracts", 3),
            ("python publishers/local_time.py > local.jsonl", 0),
            ("treaty certify local.jsonl --contract contracts", 3),
        ),
        RESULTS,
    ),
    Step(
        "6. The waiting list would notice: its query reads more than the contracts promise.",
        (
            (
                "treaty consumer subscribe waitlist gym.scheduling.class_published@1 "
                "--class service_orchestration --field classId",
                0,
            ),
            ("treaty map scan consumers", 0),
            ("treaty consumer hidden", 3),
        ),
        "stored as|^waitlist reads|^ {12}\\S",
    ),
)


class StoryFailed(Exception):
    """Raised if a command of the story ends with another exit code than it should."""


def write_project(folder: Path) -> None:
    """Write contracts, policies, publishers and consumers to a folder."""
    shutil.copy(HERE / "treaty.yaml", folder / "treaty.yaml")
    for part in ("policies", "publishers", "consumers"):
        shutil.copytree(HERE / part, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "contracts").mkdir()
    for path in sorted((HERE / "contracts").glob("*ed.yaml")):
        shutil.copy(path, folder / "contracts" / path.name)


def tell(steps: tuple[Step, ...], show: Show) -> None:
    """Run the commands of the story in the current folder."""
    for step in steps:
        show(f"\n{step.title}")
        for command, expected in step.commands:
            show(f"$ {command}")
            code, output = run(command)
            if code != expected:
                raise StoryFailed(f"{command} ended with {code}, not {expected}:\n{output}")
            for line in output.splitlines():
                if re.search(step.lines, line):
                    show(line)


def run(command: str) -> tuple[int, str]:
    """Run a command and return its exit code and output: Treaty in this process, anything else in its own."""
    text, _, target = command.partition(" > ")
    arguments = shlex.split(text)
    if arguments[0] == "treaty":
        return run_treaty(arguments[1:])
    if arguments[0] == "python":
        arguments[0] = sys.executable
    done = subprocess.run(arguments, capture_output=True, text=True, check=False)  # noqa: S603  commands of the story
    if target:
        Path(target).write_text(done.stdout, encoding="utf-8")
    return done.returncode, done.stderr if target else done.stdout + done.stderr


def run_treaty(arguments: list[str]) -> tuple[int, str]:
    """Run a command of Treaty in this process, so that all commands share one Spark."""
    output = io.StringIO()
    with redirect_stdout(output), redirect_stderr(output):
        try:
            code = build_app()(arguments, standalone_mode=False) or 0
        except TreatyError as error:
            print(f"error: {error}")
            code = exit_code(error)
    return int(code), output.getvalue()


def broker_steps() -> tuple[Step, ...]:
    """Return the step over a topic, if a local broker runs."""
    from treaty.kafka.broker import find_broker

    broker = find_broker(HERE.parents[1] / ".treaty" / "kafka")
    if broker is None:
        return ()
    from confluent_kafka.admin import AdminClient
    from confluent_kafka.cimpl import NewTopic

    topic = f"gym.classes.{broker.pid}"
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    if topic in admin.list_topics(timeout=10).topics:
        admin.delete_topics([topic])[topic].result(timeout=30)
    admin.create_topics([NewTopic(topic, 4, 1)])[topic].result(timeout=30)
    address = f"kafka://{broker.bootstrap}/{topic}"
    commands = ((f"treaty events send club.jsonl {address}", 0), (f"treaty certify {address} --contract contracts", 0))
    return (
        Step(
            "7. The same events over a topic: all events of a key are in one partition.", commands, f"{RESULTS}|^sent"
        ),
    )


@contextmanager
def project(folder: Path) -> Iterator[None]:
    """Write the project to a folder, fresh, and work in it."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    write_project(folder)
    with chdir(folder):
        yield


def main() -> None:
    """Tell the story."""
    from treaty.settings import load_settings
    from treaty.spark.session import spark_session

    folder = HERE.parents[1] / ".treaty" / "gym"
    print("Gyms publish their classes, and reservation books them. All data is generated.")
    print("The project is kept in .treaty/gym; every command below can be run there.", flush=True)
    with project(folder):
        session = spark_session(load_settings(None).spark())
        try:
            tell((*STORY, *broker_steps()), lambda line: print(line, flush=True))
        except StoryFailed as error:
            sys.exit(str(error))
        finally:
            session.stop()


if __name__ == "__main__":
    main()
