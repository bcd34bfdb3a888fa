"""Refusals are noted after the fact: in a transaction of their own, for which nobody waits."""

from __future__ import annotations

import logging
from concurrent.futures import Future
from contextlib import suppress

from treaty.errors import Unavailable
from treaty.registry.candidates import Judgement
from treaty.registry.local.desk import Desk
from treaty.registry.refusing import note

_LOG = logging.getLogger("treaty.registry")


def note_later(desk: Desk, judgement: Judgement) -> None:
    """Hand in a note of a refusal; whether it can be kept changes nothing for who was refused."""
    actor = desk.actor.name
    with suppress(Unavailable):  # the registry is closing
        desk.submit(lambda it: note(it, actor, judgement)).add_done_callback(_heard)


def _heard(done: Future[None]) -> None:
    if not done.cancelled() and done.exception() is not None:
        _LOG.warning("a refusal was not noted: %s", type(done.exception()).__name__)
