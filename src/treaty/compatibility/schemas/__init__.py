"""Whether readers of one schema read the data of another, by the rules of the schema's own format."""

from treaty.compatibility.schemas.differences import (
    MAX_COMPARISONS,
    MAX_DIFFERENCES,
    Budget,
    Party,
    SchemaDifference,
)

__all__ = ["MAX_COMPARISONS", "MAX_DIFFERENCES", "Budget", "Party", "SchemaDifference"]
