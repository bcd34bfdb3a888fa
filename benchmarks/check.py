"""How long `treaty check` takes on a repository of 500 contracts of which a branch changes 5, without a registry."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from benchmarks.documents import contract_text
from benchmarks.timing import medians, table

_CONTRACTS = 500
_CHANGED = 5
_BREAKING = 2
_FIELDS = 20
_CONSUMERS = 3
_ROUNDS = 9
_ALLOWED = 2.0
_PLAIN = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_AUTHOR_NAME": "bench",
    "GIT_AUTHOR_EMAIL": "bench@example.com",
    "GIT_COMMITTER_NAME": "bench",
    "GIT_COMMITTER_EMAIL": "bench@example.com",
}


def run() -> str:
    """Measure a check against what git and Python take for nothing but their own part of it."""
    treaty = str(Path(sys.executable).with_name("treaty"))
    with tempfile.TemporaryDirectory() as work:
        repository = Path(work)
        _fill(repository)
        taken = medians(
            {
                "python": _in(repository, sys.executable, "-c", "pass"),
                "git": _in(repository, "git", "diff", "--raw", "--find-renames", "main"),
                "committed": _in(repository, treaty, "check", "--state", "committed", codes=(3,)),
                "working": _in(repository, treaty, "check", codes=(3,)),
            },
            _ROUNDS,
        )
    floor = taken["python"] + taken["git"]
    titles = {"committed": "check --state committed", "working": "check, the work tree with new files"}
    rows = [
        (title, _ms(floor), _ms(taken[key]), f"{taken[key] / floor:.1f}", _held(taken[key]))
        for key, title in titles.items()
    ]
    header = ("command", "python -c pass and git diff (floor)", "treaty", "to the floor", f"under {_ALLOWED:g} s")
    said = f"{_CONTRACTS} contracts of {_FIELDS} fields in {_CONTRACTS} files; the branch changes {_CHANGED}, each with"
    return (
        table(header, rows)
        + f"\n\n{said} {_CONSUMERS} consumers in the repository; {_BREAKING} of the changes break them."
    )


def _fill(repository: Path) -> None:
    _git(repository, "init", "--quiet", "--initial-branch", "main")
    for number in range(_CONTRACTS):
        _write(repository, number, contract_text(_FIELDS))
        folder = repository / "consumers" / f"team{number % 50}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"data_{number}.yaml").write_text(_subscriptions(number))
    _git(repository, "add", "--all")
    _git(repository, "commit", "--quiet", "--message", "first")
    _git(repository, "checkout", "--quiet", "-b", "change")
    for place in range(_CHANGED):
        breaks = place < _BREAKING
        _write(repository, place * 97, contract_text(_FIELDS + (not breaks), changed=breaks, version="2.0.0"))
    _git(repository, "commit", "--quiet", "--all", "--message", "second")


def _write(repository: Path, number: int, text: str) -> None:
    folder = repository / "products" / f"team{number % 50}" / f"data_{number}"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "datacontract.yaml").write_text(text.replace("id: bench.orders", f"id: bench.data_{number}"))


def _subscriptions(number: int) -> str:
    lines = ["subscriptions:"]
    for consumer in range(_CONSUMERS):
        lines += [
            f"  - consumer: consumer-{number}-{consumer}",
            f"    line: bench.data_{number}@1",
            "    class: operational_reporting",
            f"    fields: [order_attribute_{consumer}, order_attribute_{consumer * 5}]",
        ]
    return "\n".join(lines) + "\n"


def _git(repository: Path, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=repository, check=True, env={**os.environ, **_PLAIN})


def _in(folder: Path, *arguments: str, codes: tuple[int, ...] = (0,)) -> Callable[[], None]:
    def action() -> None:
        ended = subprocess.run(arguments, cwd=folder, capture_output=True, check=False)
        if ended.returncode not in codes:
            raise RuntimeError(f"{' '.join(arguments)} ended with {ended.returncode}: {ended.stderr.decode()}")

    return action


def _ms(seconds: float) -> str:
    return f"{seconds * 1e3:.0f} ms"


def _held(seconds: float) -> str:
    return "yes" if seconds < _ALLOWED else "no"
