"""Exit codes of the command line."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """Findings and failures have different codes, so that a CI job can tell them apart."""

    FINE = 0
    FAILURE = 1
    USAGE = 2
    FINDINGS = 3


MEANINGS = {
    ExitCode.FINE: "success",
    ExitCode.FAILURE: "the command failed",
    ExitCode.USAGE: "wrong arguments or options",
    ExitCode.FINDINGS: "the command ran and reports a violation or a negative answer",
}
