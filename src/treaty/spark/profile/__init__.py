"""Profile data and draft a contract from it; every guessed term states its evidence."""

from treaty.spark.profile.inference import Sample, infer, parse_sample
from treaty.spark.profile.model import (
    GUESSED_PROPERTY,
    Confidence,
    Facts,
    Guess,
    Inferred,
    NearMiss,
    Profile,
    TypeOrigin,
    read_guesses,
)

__all__ = [
    "GUESSED_PROPERTY",
    "Confidence",
    "Facts",
    "Guess",
    "Inferred",
    "NearMiss",
    "Profile",
    "Sample",
    "TypeOrigin",
    "read_guesses",
    "infer",
    "parse_sample",
]
