"""The exceptions of reconciliations, for the people who own them: listed, looked at, accepted."""

from treaty.pipeline.exceptions.acceptance import accept
from treaty.pipeline.exceptions.exception_queries import Wanted, listed, of_key
from treaty.pipeline.exceptions.exception_rows import AcceptanceAnswer, ExceptionAnswer, KeyAnswer

__all__ = ["AcceptanceAnswer", "ExceptionAnswer", "KeyAnswer", "Wanted", "accept", "listed", "of_key"]
