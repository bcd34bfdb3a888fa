"""What data look like, and the contract that could be drafted from them: guesses, each with its evidence."""

from treaty.spark.profile.facts import Facts, Profile
from treaty.spark.profile.guesses import GUESSED, Confidence, Guess, guessed_of
from treaty.spark.profile.inferring import Inferred, infer
from treaty.spark.profile.sampling import Sample, parse_sample
from treaty.spark.profile.type_origin import Typing

__all__ = [
    "GUESSED",
    "Confidence",
    "Facts",
    "Guess",
    "Inferred",
    "Profile",
    "Sample",
    "Typing",
    "guessed_of",
    "infer",
    "parse_sample",
]
