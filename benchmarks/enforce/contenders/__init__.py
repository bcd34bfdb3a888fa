"""One file for each contender: `CASES` by name, and `SETTINGS` where Spark needs more for it."""
