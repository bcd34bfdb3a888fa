"""What data look like, and the contract that could be drafted from them: guesses, each with its evidence."""

from treaty.spark.profile.facts import Facts, Profile, Typing
from treaty.spark.profile.guesses import GUESSED, Confidence, Guess, guessed_of
from treaty.spark.profile.inference import Inferred, Sample, infer, parse_sample

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
