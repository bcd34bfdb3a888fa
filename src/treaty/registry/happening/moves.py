"""Moves to a next line, in a sentence each."""

from __future__ import annotations

from treaty.registry.happening.words import Told, day, listed


def move_proposed(one: Told) -> str:
    """Tell of a move that waits for the word of those it concerns."""
    return f"{one.who} proposed {_move(one)}, which concerns {_named(one.details.get('consumers'))}"


def move_opened(one: Told) -> str:
    """Tell of a move that began."""
    return f"{one.who} opened {_move(one)}: {_named(one.details.get('consumers'))} to move"


def acknowledged(one: Told) -> str:
    """Tell of a consumer that knows of a move."""
    return f"{one.who} acknowledged {_move(one)} for {one.about.consumer}{one.because()}"


def moved(one: Told) -> str:
    """Tell of a consumer that moved."""
    return f"{one.who} moved {one.about.consumer} {_from_to(one)}"


def waived(one: Told) -> str:
    """Tell of a consumer that a move goes on without."""
    until = f" until {day(one.details['until'])}" if one.details.get("until") else ""
    return f"{one.who} let {_move(one)} go on without {one.about.consumer}{until}{one.because()}"


def move_closed(one: Told) -> str:
    """Tell of a move that ended."""
    left = one.about.line.major if one.about.line else "left"
    return f"{one.who} closed {_move(one)}: line {left} is no longer served"


def proven(one: Told) -> str:
    """Tell of a proof."""
    kept = "kept their word on rows" if one.details.get("holds") else "did not keep their word on rows"
    return f"{one.who} tried {_move(one)}: the shims {kept}"


def reminded(one: Told) -> str:
    """Tell of a reminder."""
    return f"{one.who} reminded {_named(one.details.get('consumers'))} of {_move(one)}"


def _named(consumers: object) -> str:
    names = [str(name) for name in consumers] if isinstance(consumers, list) else []
    return listed(names) or "nobody"


def _move(one: Told) -> str:
    return f"the move {_from_to(one)}"


def _from_to(one: Told) -> str:
    left, to = one.about.line, one.about.to
    return f"from line {left.major} to line {to.major}" if left and to else "to the next line"
