"""Writing generated events as JSON lines, at once or each at the time when it happens."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import IO

import typer

from treaty.contracts import Contract
from treaty.errors import Unavailable
from treaty.events.checks import CheckId
from treaty.events.deliberate_violations import violate
from treaty.events.generator import EventGenerator, GeneratedEvent, GenerationOptions
from treaty.suggestions import choose

_LEAD = timedelta(seconds=0.5)
_COMPOSING = timedelta(milliseconds=4)
"""How long an event takes to be composed; live events are composed before the first one happens."""


@dataclass(frozen=True)
class Pace:
    """How many events are written per second; None: all at once."""

    per_second: float | None = None

    def at_this_pace(self, options: GenerationOptions) -> GenerationOptions:
        """Return the options for events that happen from now on."""
        if self.per_second is None:
            return options
        start = datetime.now(UTC) + _LEAD + options.count * _COMPOSING
        return replace(options, start=start, interval=timedelta(seconds=1 / self.per_second))

    def follow(self, events: Iterable[GeneratedEvent]) -> Iterator[GeneratedEvent]:
        """Yield events when they are due."""
        for event in events:
            if self.per_second is not None:
                time.sleep(max(0.0, (event.sent_at - datetime.now(UTC)).total_seconds()))
            yield event


def parse_checks(names: Sequence[str]) -> list[CheckId]:
    """Parse the ids of checks."""
    known = [check.value for check in CheckId]
    for name in names:
        if name not in known:
            raise typer.BadParameter(f"there is no check {name!r}; {choose(name, known)}", param_hint="--violate")
    return [CheckId(name) for name in names]


def generate_lines(
    contracts: Sequence[Contract],
    options: GenerationOptions,
    checks: Sequence[CheckId],
    pace: Pace,
    render: Callable[[GeneratedEvent], str],
    output: Path | None,
) -> None:
    """Generate events and write them, and say on standard error what was written."""
    generator = EventGenerator(contracts, pace.at_this_pace(options))
    events: list[GeneratedEvent] = generator.generate()
    if checks:
        events = violate(generator, events, checks)
    for name, reason in generator.unevaluated.items():
        typer.echo(f"warning: events may violate {name}: {reason}", err=True)
    with _opened(output) as file:
        for event in pace.follow(events):
            file.write(render(event) + "\n")
            if pace.per_second is not None:
                file.flush()
    typer.echo(_summary(events, checks, output), err=True)


@contextmanager
def _opened(output: Path | None) -> Iterator[IO[str]]:
    if output is None:
        yield sys.stdout
        return
    try:
        with output.open("w", encoding="utf-8") as file:
            yield file
    except OSError as error:
        raise Unavailable(f"cannot write {output}: {error.strerror}; check the path") from None


def _summary(events: Sequence[GeneratedEvent], checks: Sequence[CheckId], output: Path | None) -> str:
    counts = Counter(event.type for event in events)
    types = ", ".join(f"{count:,} {name}" for name, count in sorted(counts.items()))
    keys = len({event.key for event in events})
    violated = f"; violates {', '.join(check.value for check in checks)}" if checks else ""
    where = f" in {output}" if output else ""
    return f"{len(events):,} events of {keys:,} keys{where}: {types}{violated}"
