"""Validators of generated models. A generated module contains the source of those that it uses, so it stands alone."""

import re
from collections.abc import Callable
from typing import Any

from pydantic import AfterValidator, BeforeValidator


def matches(pattern: str) -> AfterValidator:
    """Check that a text matches a pattern from start to end."""

    def check(value: str) -> str:
        if re.fullmatch(pattern, value) is None:
            raise ValueError(f"must match {pattern}")
        return value

    return AfterValidator(check)


def written_as(pattern: str) -> BeforeValidator:
    """Check that a text matches a pattern before it is converted; numbers are not converted."""

    def check(value: Any) -> Any:
        if isinstance(value, int | float) or (isinstance(value, str) and re.fullmatch(pattern, value) is None):
            raise ValueError(f"must match {pattern}")
        return value

    return BeforeValidator(check)


def within(low: float, high: float) -> AfterValidator:
    """Check that a number is in the range of its type."""

    def check(value: Any) -> Any:
        if not low <= value <= high:
            raise ValueError(f"must be between {low} and {high}")
        return value

    return AfterValidator(check)


def one_of(*values: Any) -> AfterValidator:
    """Check that a value is one of the allowed values."""

    def check(value: Any) -> Any:
        if value not in values:
            raise ValueError(f"must be one of {', '.join(map(str, values))}")
        return value

    return AfterValidator(check)


def distinct() -> AfterValidator:
    """Check that a list has no item twice."""

    def check(value: list[Any]) -> list[Any]:
        if any(item in value[:index] for index, item in enumerate(value)):
            raise ValueError("must not repeat an item")
        return value

    return AfterValidator(check)


VALIDATORS: dict[str, Callable[..., Any]] = {
    function.__name__: function for function in (matches, written_as, within, one_of, distinct)
}
