"""What a command's exit code says."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """Findings are told from failures, so that a pipeline can act on either."""

    FINE = 0
    FAILURE = 1
    USAGE = 2
    FINDINGS = 3


MEANINGS = {
    ExitCode.FINE: "all is well",
    ExitCode.FAILURE: "the command could not do its work",
    ExitCode.USAGE: "the command was called wrongly",
    ExitCode.FINDINGS: "the command did its work and found something that stands against the contract",
}
