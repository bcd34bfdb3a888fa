"""How long a command takes from a cold start, against Python alone and against datacontract-cli."""

from __future__ import annotations

import sys
from pathlib import Path

from benchmarks.documents import contract_text
from benchmarks.peers import WORK, peer_binary
from benchmarks.timing import command, medians, table

_PEER = "datacontract-cli==1.2.8"
_ROUNDS = 15


def run() -> str:
    """Measure help and lint of a small and a large document, in turns with the peer."""
    peer = peer_binary("datacontract-cli", _PEER, "datacontract")
    ours = str(Path(sys.executable).with_name("treaty"))
    small, large = _document(10), _document(1_000)
    taken = medians(
        {
            "python": command(sys.executable, "-c", "pass"),
            "ours help": command(ours, "--help"),
            "peer help": command(peer, "--help"),
            "ours small": command(ours, "lint", small),
            "peer small": command(peer, "lint", small),
            "ours large": command(ours, "lint", large),
            "peer large": command(peer, "lint", large),
        },
        _ROUNDS,
    )
    rows = []
    for title, key in (("--help", "help"), ("lint, 10 fields", "small"), ("lint, 1,000 fields", "large")):
        mine, theirs = taken[f"ours {key}"], taken[f"peer {key}"]
        rows.append(
            (
                title,
                _ms(taken["python"]),
                _ms(mine),
                f"{mine / taken['python']:.1f}",
                _ms(theirs),
                f"{theirs / mine:.1f} ×",
            )
        )
    header = ("command", "python -c pass (floor)", "treaty", "to the floor", f"`{_PEER}`", "treaty is faster by")
    return table(header, rows)


def _ms(seconds: float) -> str:
    return f"{seconds * 1e3:.0f} ms"


def _document(fields: int) -> str:
    path = WORK / f"contract-{fields}.yaml"
    path.write_text(contract_text(fields))
    return str(path)
