"""Console blocks of a page: each command, and the output that the page shows below it."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Step:
    """A command and the output that the page shows."""

    command: str
    shown: str
    """Empty if the page shows no output. `…` on a line of its own is any lines; inside a line it is any text."""

    def matches(self, output: str) -> bool:
        """Tell whether a command printed what the page shows."""
        if not self.shown:
            return True
        parts = (
            r"(?:.*\n)*?" if line.strip() == "…" else re.escape(line.rstrip()).replace("…", ".*") + r"[ ]*\n"
            for line in self.shown.splitlines()
        )
        return re.fullmatch("".join(parts), output) is not None


def steps_of(page: str) -> tuple[Step, ...]:
    """Return the commands of all console blocks in the order of the page; a comment after a command is left out."""
    blocks = re.findall(r"^```console\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    parts = (part for block in blocks for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:])
    return tuple(_step(*part.partition("\n")) for part in parts)


def _step(command: str, _: str, shown: str) -> Step:
    return Step(re.sub(r"\s{2,}# .*", "", command), shown)
