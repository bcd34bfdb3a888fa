"""One run of a project at a time, tested with real processes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from treaty.errors import Conflict, Unavailable
from treaty.pipeline.run.run_lock import LOCK, LockHolder, current_holder, hold_run_lock

NOW = datetime(2026, 3, 1, 8, 0, tzinfo=UTC)
_HOLDER = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from treaty.pipeline.run.run_lock import current_holder, hold_run_lock

with hold_run_lock(Path(sys.argv[1]), current_holder(4711, datetime(2026, 3, 1, 7, 30, tzinfo=UTC))):
    print("held", flush=True)
    sys.stdin.readline()
"""


@contextmanager
def another_process(project: Path) -> Iterator[subprocess.Popen[str]]:
    """Start a process that holds the lock until it is stopped or killed."""
    command = [sys.executable, "-c", _HOLDER, str(project)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout
            assert process.stdout.readline() == "held\n"
            yield process
        finally:
            process.kill()


def let_go(process: subprocess.Popen[str]) -> None:
    assert process.stdin
    process.stdin.write("\n")
    process.stdin.flush()


def test_second_run_is_refused_with_the_holder(tmp_path: Path) -> None:
    with another_process(tmp_path) as other:
        with pytest.raises(Conflict) as refused, hold_run_lock(tmp_path, current_holder(4712, NOW)):
            pytest.fail("two runs at once")
        message = str(refused.value)
        assert all(
            part in message for part in ("run 4711", f"process {other.pid}", "2026-03-01 07:30:00 UTC", "--wait")
        )


def test_run_waits_for_the_one_before_it(tmp_path: Path) -> None:
    with another_process(tmp_path) as other:
        waited_for: list[LockHolder | None] = []

        def tell(holder: LockHolder | None) -> None:
            waited_for.append(holder)
            let_go(other)

        with hold_run_lock(tmp_path, current_holder(4712, NOW), wait=30, on_wait=tell):
            assert [holder.run for holder in waited_for if holder] == [4711]
            assert json.loads((tmp_path / LOCK).read_bytes())["run"] == 4712


def test_waiting_times_out(tmp_path: Path) -> None:
    with another_process(tmp_path):
        before = time.monotonic()
        with (
            pytest.raises(Conflict, match=r"after 0\.3 s"),
            hold_run_lock(tmp_path, current_holder(4712, NOW), wait=0.3),
        ):
            pytest.fail("two runs at once")
        assert 0.3 <= time.monotonic() - before < 10


def test_killed_process_releases_the_lock(tmp_path: Path) -> None:
    with another_process(tmp_path) as other:
        os.kill(other.pid, signal.SIGKILL)
        other.wait()
    assert json.loads((tmp_path / LOCK).read_bytes())["run"] == 4711  # it could not clean up
    with hold_run_lock(tmp_path, current_holder(4712, NOW)):
        pass


def test_failed_run_releases_the_lock(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), hold_run_lock(tmp_path, current_holder(1, NOW)):
        raise RuntimeError("the run failed")
    with (
        hold_run_lock(tmp_path, current_holder(2, NOW)),
        pytest.raises(Conflict),
        hold_run_lock(tmp_path, current_holder(3, NOW)),
    ):
        pytest.fail("two runs at once")
    assert (tmp_path / LOCK).read_bytes() == b""


@pytest.mark.parametrize("content", [b"", b"{", b"[1]", b'{"pid": 1}', b"\xff"])
def test_lock_without_a_holder_name_is_still_held(tmp_path: Path, content: bytes) -> None:
    with another_process(tmp_path):
        (tmp_path / LOCK).write_bytes(content)
        with pytest.raises(Conflict, match="another run"), hold_run_lock(tmp_path, current_holder(4712, NOW)):
            pytest.fail("two runs at once")


def test_unwritable_project_folder_is_reported(tmp_path: Path) -> None:
    (tmp_path / ".treaty").write_text("a file in the way")
    with pytest.raises(Unavailable, match=r"run\.lock"), hold_run_lock(tmp_path, current_holder(1, NOW)):
        pytest.fail("no lock")
