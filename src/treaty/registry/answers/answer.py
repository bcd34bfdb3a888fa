"""The shapes that answers share."""

from __future__ import annotations

from typing import Generic, TypeVar

from pydantic import BaseModel, ConfigDict

T = TypeVar("T")


class Answer(BaseModel):
    """An answer never changes once it is given."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Page(Answer, Generic[T]):
    """A part of a list; `next` is where the following part begins, or null at the end."""

    items: list[T]
    next: str | None = None
