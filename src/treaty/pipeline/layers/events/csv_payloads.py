"""Payloads that hold a CSV record: values by the names that the header of their file has."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from treaty.pipeline.layers.events.json_payloads import without_mark
from treaty.pipeline.layers.raw import COLUMNS
from treaty.spark.columns import MALFORMED, PRIVATE, named, settled

_TEXT, _TOKENS, _NAMES = f"{PRIVATE}text", f"{PRIVATE}tokens", f"{PRIVATE}names"
_QUOTED = r'"[^"]*+(?:""[^"]*+)*+"'


@dataclass(frozen=True)
class CsvPayloads:
    """Where records stand in raw rows, and how they are written.

    Files of a source may have their columns in any order. Without a header, values stand in the order of the contract.
    """

    payload: str
    headers: str
    separator: str
    fields: tuple[str, ...]

    def records(self, raw: DataFrame, wanted: Sequence[str], kept: list[Column]) -> DataFrame:
        """Return the wanted fields as texts, the text of what is malformed, and the columns to keep."""
        texts = raw.select(self._text().alias(_TEXT), settled(self._names()).alias(_NAMES), *kept)
        others = [name for name in texts.columns if name not in (_TEXT, _NAMES)]
        read = texts.select("*", settled(_tokens(named(_TEXT), self.separator)).alias(_TOKENS))
        values = [_of_name(named(_TOKENS), named(_NAMES), F.lit(name)).alias(name) for name in wanted]
        malformed = F.when(~F.coalesce(_is_whole(self.separator), F.lit(False)), named(_TEXT)).alias(MALFORMED)
        return read.select(*values, malformed, *map(named, others))

    def unknown(self) -> Column:
        """Return the names that have a value and are none of the contract's."""
        names, tokens, known = self._names(), _tokens(self._text(), self.separator), F.array(*map(F.lit, self.fields))
        return F.filter(names, lambda name: ~F.array_contains(known, name) & _of_name(tokens, names, name).isNotNull())

    def _text(self) -> Column:
        return _without_return(without_mark(named(self.payload)))

    def _names(self) -> Column:
        header = _tokens(_without_return(without_mark(named(self.headers).getItem(COLUMNS))), self.separator)
        return F.coalesce(F.transform(header, _value), F.array(*map(F.lit, self.fields)))


def _of_name(tokens: Column, names: Column, name: Column) -> Column:
    return _value(F.get(tokens, F.array_position(names, name) - F.lit(1)))


def _tokens(text: Column, separator: str) -> Column:
    """Return the values of a record as they are written; one more separator goes before the first."""
    mark = re.escape(separator)
    token = rf"{mark}({_QUOTED}|[^{mark}]*+)"
    return F.regexp_extract_all(F.concat(F.lit(separator), text), F.lit(token), F.lit(1))


def _value(token: Column) -> Column:
    """Return what a token says: nothing is null, and two quotes are an empty text."""
    inside = F.replace(F.substr(token, F.lit(2), F.length(token) - F.lit(2)), F.lit('""'), F.lit('"'))
    return F.when(F.startswith(token, F.lit('"')), inside).when(token != F.lit(""), token)


def _is_whole(separator: str) -> Column:
    """Tell whether a record has a value for every name, none of them torn, and nothing between them."""
    tokens, text = named(_TOKENS), named(_TEXT)
    torn = F.exists(tokens, lambda token: F.startswith(token, F.lit('"')) & ~F.rlike(token, F.lit(f"^{_QUOTED}$")))
    covered = F.array_join(tokens, separator) == text
    return F.is_valid_utf8(text) & (F.size(tokens) == F.size(_NAMES)) & covered & ~torn


def _without_return(text: Column) -> Column:
    return F.when(F.endswith(text, F.lit("\r")), F.substr(text, F.lit(1), F.length(text) - F.lit(1))).otherwise(text)
