"""The exceptions of reconciliations, for the people who own them: listed, looked at, accepted."""

from treaty.pipeline.exceptions.accepting import accept
from treaty.pipeline.exceptions.answers import AcceptanceAnswer, ExceptionAnswer, KeyAnswer
from treaty.pipeline.exceptions.listing import Wanted, listed
from treaty.pipeline.exceptions.showing import of_key

__all__ = ["AcceptanceAnswer", "ExceptionAnswer", "KeyAnswer", "Wanted", "accept", "listed", "of_key"]
