"""Fast construction of frozen dataclasses, with attributes that are computed on first access."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

T = TypeVar("T")

if TYPE_CHECKING:
    from collections.abc import Callable
    from functools import cached_property as lazy

    def deferred(default: T) -> T: ...

else:

    class deferred:  # noqa: N801
        """Default of a dataclass attribute that `build_frozen` may compute later, on first access and only once.

        Without a deferred computation it behaves like an ordinary default.
        """

        def __init__(self, default: Any) -> None:
            self._default = default

        def __set_name__(self, owner: type, name: str) -> None:
            self._name, self._deferred_name = name, deferred_key(name)

        def __get__(self, instance: Any, owner: type | None = None) -> Any:
            if instance is None:
                return self._default
            attributes = instance.__dict__
            compute = attributes.get(self._deferred_name)
            if compute is None:
                return attributes.get(self._name, self._default)  # another thread may have computed it meanwhile
            value = attributes[self._name] = compute()
            attributes.pop(self._deferred_name, None)
            return value

    class lazy:  # noqa: N801
        """A `cached_property` without the lock that older Python versions take.

        Instances are frozen, so two threads that compute the value at the same time get equal results.
        """

        def __init__(self, compute: Callable[[Any], Any]) -> None:
            self._compute = compute
            self.__doc__ = compute.__doc__

        def __set_name__(self, owner: type, name: str) -> None:
            self._name = name

        def __get__(self, instance: Any, owner: type | None = None) -> Any:
            if instance is None:
                return self
            value = instance.__dict__[self._name] = self._compute(instance)
            return value


__all__ = ["build_frozen", "deferred", "deferred_key", "lazy", "resolve_deferred"]

_DEFERRED_SUFFIX = " later"


def deferred_key(name: str) -> str:
    """Return the key under which `build_frozen` expects the computation of a deferred attribute."""
    return name + _DEFERRED_SUFFIX


def resolve_deferred(value: object) -> None:
    """Compute every deferred attribute now."""
    for name in [key.removesuffix(_DEFERRED_SUFFIX) for key in vars(value) if key.endswith(_DEFERRED_SUFFIX)]:
        getattr(value, name)


def build_frozen(cls: type[T], attributes: dict[str, Any]) -> T:
    """Build a frozen dataclass from the attributes that are set; every other attribute must have a default.

    A `deferred` attribute is given as a computation under its `deferred_key`; a `lazy` one as its value.
    The generated `__init__` sets every attribute, defaults included, which is slow for classes with many of them.
    """
    value = object.__new__(cls)
    object.__setattr__(value, "__dict__", attributes)
    return value
