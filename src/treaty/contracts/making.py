"""Frozen values made quickly: what is not said of them stands in their class, what follows is worked out once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable
    from functools import cached_property as once
else:

    class once:  # noqa: N801
        """What is worked out when somebody asks for it, and once: Python's own, without the lock of its older versions.

        Values are frozen, so that two threads which ask at the same time come to the same.
        """

        def __init__(self, work: Callable[[Any], Any]) -> None:
            self._work = work
            self.__doc__ = work.__doc__

        def __set_name__(self, owner: type, name: str) -> None:
            self._name = name

        def __get__(self, value: Any, owner: type | None = None) -> Any:
            if value is None:
                return self
            found = value.__dict__[self._name] = self._work(value)
            return found


__all__ = ["made", "once"]

T = TypeVar("T")


def made(kind: type[T], said: dict[str, Any]) -> T:
    """Make a frozen dataclass as `kind(**said)` does, where every other attribute has a plain default.

    Its own way sets attribute by attribute, defaults among them, which is slow where there are many and few are said.
    """
    value = object.__new__(kind)
    object.__setattr__(value, "__dict__", said)
    return value
