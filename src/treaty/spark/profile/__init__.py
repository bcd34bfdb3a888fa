"""Profile data and draft a contract from it; every guessed term states its evidence."""

from treaty.spark.profile.facts import Facts, Profile, TypeOrigin
from treaty.spark.profile.guesses import GUESSED_PROPERTY, Confidence, Guess, read_guesses
from treaty.spark.profile.inference import Inferred, Sample, infer, parse_sample

__all__ = [
    "GUESSED_PROPERTY",
    "Confidence",
    "Facts",
    "Guess",
    "Inferred",
    "Profile",
    "Sample",
    "TypeOrigin",
    "read_guesses",
    "infer",
    "parse_sample",
]
