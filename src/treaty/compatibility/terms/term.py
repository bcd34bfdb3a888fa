"""What a term is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from treaty.compatibility.comparing import Compare


@dataclass(frozen=True, slots=True)
class Term:
    """One promise: how to read it, how to compare two of it, and what it rests on.

    Of a field these are the attributes of the model: the term is compared only if one of them moved. Of a contract
    they are Treaty's own blocks: what a term reads is not reported as mere metadata too.
    """

    name: str
    read: Callable[[Any], Any]
    compare: Compare
    rests_on: frozenset[str] = frozenset()
    options: frozenset[str] = frozenset()
