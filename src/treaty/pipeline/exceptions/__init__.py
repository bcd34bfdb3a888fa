"""Exceptions of reconciliations, for their owners: list them, show those of a key, and accept them."""

from treaty.pipeline.exceptions.acceptance import accept_exception
from treaty.pipeline.exceptions.exception_queries import ExceptionFilter, exceptions_of_key, list_exceptions
from treaty.pipeline.exceptions.exception_rows import AcceptanceAnswer, ExceptionAnswer, KeyAnswer

__all__ = [
    "AcceptanceAnswer",
    "ExceptionAnswer",
    "KeyAnswer",
    "ExceptionFilter",
    "accept_exception",
    "exceptions_of_key",
    "list_exceptions",
]
