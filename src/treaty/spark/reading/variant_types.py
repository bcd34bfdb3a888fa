"""What Spark says of the types in JSON, such as OBJECT<id: BIGINT, tags: ARRAY<STRING>>, as types."""

from __future__ import annotations

import re

from pyspark.sql import types as spark

_TOKEN = re.compile(r"\s*(`(?:[^`]|``)*`|[A-Za-z0-9_]+|DECIMAL\(\d+,\d+\)|[<>,:()])")
_PLAIN: dict[str, spark.DataType] = {
    "BIGINT": spark.LongType(),
    "DOUBLE": spark.DoubleType(),
    "BOOLEAN": spark.BooleanType(),
}


def variant_type(text: str) -> spark.DataType:
    """Read a type; what is nothing but null, or of several types, is a text."""
    return _Reading(_TOKEN.findall(text)).type()


class _Reading:
    """One text, read from its first token to its last."""

    def __init__(self, tokens: list[str]) -> None:
        self.tokens = tokens[::-1]

    def type(self) -> spark.DataType:
        name = self.tokens.pop()
        if name == "OBJECT":
            return self._object()
        if name == "ARRAY":
            self._pass("<")
            element = self.type()
            self._pass(">")
            return spark.ArrayType(element)
        if name == "DECIMAL":
            self._pass("(")
            precision = int(self.tokens.pop())
            self._pass(",")
            scale = int(self.tokens.pop())
            self._pass(")")
            return spark.DecimalType(precision, scale)
        return _PLAIN.get(name, spark.StringType())

    def _object(self) -> spark.StructType:
        fields = []
        self._pass("<")
        while self.tokens[-1] != ">":
            name = self.tokens.pop()
            self._pass(":")
            fields.append(spark.StructField(_unquoted(name), self.type()))
            if self.tokens[-1] == ",":
                self.tokens.pop()
        self._pass(">")
        return spark.StructType(fields)

    def _pass(self, token: str) -> None:
        found = self.tokens.pop()
        if found != token:
            raise ValueError(f"{token!r} expected, not {found!r}")


def _unquoted(name: str) -> str:
    return name[1:-1].replace("``", "`") if name.startswith("`") else name
