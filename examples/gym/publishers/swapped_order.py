"""A faulty adapter: it collects the changes of an hour, and sends the newest first."""

from __future__ import annotations

from itertools import groupby

from events import send
from native import event_of
from timetable import changes

if __name__ == "__main__":
    for _, hour in groupby(changes(), key=lambda change: change.at.replace(minute=0, second=0)):
        for change in reversed(list(hour)):
            send("swapped", change.kind, event_of(change))
