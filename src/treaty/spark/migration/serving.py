"""A shim as a projection of a frame: rows of one line in the shape of the other."""

from __future__ import annotations

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame

from treaty.compatibility.migration import Shim, projection
from treaty.errors import InvalidDocument


def served(frame: DataFrame, shim: Shim) -> DataFrame:
    """Return rows of one line in the shape of the other; nothing runs until the frame is used."""
    try:
        return frame.selectExpr(*projection(shim))
    except PySparkException as error:
        said = str(error).splitlines()[0]
        raise InvalidDocument(f"Spark cannot make {shim.way.meaning}: {said}") from None
