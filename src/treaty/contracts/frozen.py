"""Frozen values made quickly: what is not said of them stands in their class, what follows is worked out once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

T = TypeVar("T")

if TYPE_CHECKING:
    from collections.abc import Callable
    from functools import cached_property as once

    def put_off(default: T) -> T: ...

else:

    class put_off:  # noqa: N801
        """The default of an attribute that `made` may be told to work out later: when somebody asks for it, and once.

        Where nothing was put off, it is the default, as with any other attribute of a dataclass.
        """

        def __init__(self, default: Any) -> None:
            self._default = default

        def __set_name__(self, owner: type, name: str) -> None:
            self._name, self._later = name, later(name)

        def __get__(self, value: Any, owner: type | None = None) -> Any:
            if value is None:
                return self._default
            said = value.__dict__
            work = said.get(self._later)
            if work is None:
                return said.get(self._name, self._default)  # another thread may have been quicker
            found = said[self._name] = work()
            said.pop(self._later, None)
            return found

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


__all__ = ["later", "made", "once", "put_off", "work_out"]

_LATER = " later"


def later(name: str) -> str:
    """Return the key under which `made` is told how an attribute is worked out."""
    return name + _LATER


def work_out(value: object) -> None:
    """Work out now what was put off."""
    for name in [key.removesuffix(_LATER) for key in vars(value) if key.endswith(_LATER)]:
        getattr(value, name)


def made(kind: type[T], said: dict[str, Any]) -> T:
    """Make a frozen dataclass of what is said of it, where every other attribute has a default.

    What is said may also be how an attribute is worked out `later`, or what would follow `once` it is asked for.
    Its own way sets attribute by attribute, defaults among them, which is slow where there are many and few are said.
    """
    value = object.__new__(kind)
    object.__setattr__(value, "__dict__", said)
    return value
