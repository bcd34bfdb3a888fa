"""Documents made to hurt whoever reads them, and what each must be refused with."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

HEAD = "apiVersion: v3.2.0\nkind: DataContract\nid: orders\nversion: 1.0.0\n"


@dataclass(frozen=True)
class Hostile:
    """A document, a part of the message it must be refused with, and the line that must name."""

    name: str
    content: str | bytes
    says: str
    line: int | None = 1


def _block(depth: int) -> str:
    return "".join(f"{' ' * level}a:\n" for level in range(depth))


def _flow(depth: int, opening: str = "[", closing: str = "]") -> str:
    return opening * depth + closing * depth


def _json(depth: int, between: str = "") -> str:
    return f'{{"a":{between}' * depth + "1" + "}" * depth


def _bomb(levels: int, width: int, level: str = "a{0}: &a{0} [{1}]\n") -> str:
    """Each level repeats the one before it `width` times."""
    lines = [level.format(0, ", ".join(["x"] * width))]
    lines += [level.format(index, ", ".join([f"*a{index - 1}"] * width)) for index in range(1, levels)]
    return "".join(lines)


def _merge_bomb(levels: int, width: int) -> str:
    return "a0: &a0 {k: v}\n" + "".join(
        f"a{index}: &a{index} {{<<: [{', '.join([f'*a{index - 1}'] * width)}]}}\n" for index in range(1, levels)
    )


def _stairs(steps: int, height: int) -> str:
    """Nest through aliases what no single line nests too deeply."""
    lines = [f"a0: &a0 {_flow(height)}\n"]
    for index in range(1, steps):
        lines.append(f"a{index}: &a{index} {'[' * height}*a{index - 1}{']' * height}\n")
    return "".join(lines)


def odcs_json(**more: Any) -> str:
    """An ODCS document as JSON, with more keys."""
    head = {"apiVersion": "v3.2.0", "kind": "DataContract", "id": "orders", "version": "1.0.0"}
    return json.dumps(head | more)


def _fields(columns: Iterable[dict[str, Any]]) -> str:
    return odcs_json(schema=[{"name": "orders", "properties": list(columns)}])


TOO_DEEP = (
    Hostile("yaml, block", _block(65), "nested deeper than 64 levels", 65),
    Hostile("yaml, block, far deeper", _block(1_000), "nested deeper than 64 levels", 65),
    Hostile("yaml, flow sequence of 60 KB", "a: " + _flow(30_000), "nested deeper than 64 levels"),
    Hostile("yaml, flow mapping", "a: " + _flow(15_000, "{a: ", "}"), "nested deeper than 64 levels"),
    Hostile("yaml, flow sequence never closed", "a: " + "[" * 60_000, "nested deeper than 64 levels"),
    Hostile("yaml, flow on line 3", "a: 1\nb: 2\nc: " + _flow(70), "nested deeper than 64 levels", 3),
    Hostile("yaml, dashes", "a:\n" + "- " * 30_000 + "x", "nested deeper than 64 levels", 2),
    Hostile("yaml, through aliases", _stairs(90, 50), "nested deeper than 64 levels", 2),
    Hostile(
        "yaml, through merge keys",
        "a: &a {b: " + _flow(60) + "}\nc: " + "[" * 10 + "{<<: *a}" + "]" * 10,
        "nested deeper than 64 levels",
        2,
    ),
    Hostile("json, object", _json(65), "nested deeper than 64 levels"),
    Hostile("json, object, line by line", _json(70, "\n"), "nested deeper than 64 levels", 65),
    Hostile("json, array of 60 KB", _flow(30_000), "nested deeper than 64 levels"),
    Hostile("json, never closed", '{"a":' * 12_000, "nested deeper than 64 levels"),
)

TOO_MUCH = (
    Hostile("alias bomb", _bomb(9, 9), "more than 500,000 values", 6),
    Hostile(
        "alias bomb of mappings", _bomb(9, 9).replace("[", "{b: [").replace("]", "]}"), "more than 500,000 values", 6
    ),
    Hostile("merge bomb of a few hundred bytes", _merge_bomb(10, 10), "more than 500,000 values", 7),
    Hostile("more aliases than anyone writes", "a: &a 1\nb: [" + "*a, " * 101 + "]", "more than 100 aliases", 2),
    Hostile(
        "more merge keys than anyone writes",
        "a: &a {b: 1}\n" + "".join(f"c{n}: {{<<: *a}}\n" for n in range(101)),
        "more than 100 aliases",
        102,
    ),
    Hostile("an alias inside its own anchor", "b: 1\na: &a [*a]\n", "*a has no complete anchor", 2),
    Hostile("a mapping merged into itself", "a: &a {<<: *a}\n", "*a has no complete anchor"),
    Hostile("an alias of nothing", "b: 1\na: *nothing\n", "*nothing has no complete anchor", 2),
    Hostile("over 2 MB of bytes", b"a: " + b"x" * 2_000_000, "at most 2,000,000 are read", None),
    Hostile("over 2 MB of text", "a: " + "x" * 2_000_000, "at most 2,000,000 are read", None),
    Hostile("over 2 MB of text in fewer characters", "a: " + "é" * 1_500_000, "at most 2,000,000 are read", None),
)

GIVEN_TWICE = (
    Hostile("yaml", "a: 1\nb: 2\na: 3\n", "the key 'a' occurs twice", 3),
    Hostile("yaml, nested", "b:\n  - a: 1\n    c: 2\n    a: 3\n", "the key 'a' occurs twice", 4),
    Hostile("yaml, flow", "b: {a: 1, a: 2}\n", "the key 'a' occurs twice"),
    Hostile("yaml, quoted and plain", "a: 1\n'a': 2\n", "the key 'a' occurs twice", 2),
    Hostile("yaml, escaped and plain", 'a: 1\n"\\x61": 2\n', "the key 'a' occurs twice", 2),
    Hostile("yaml, the merge key", "a: &a {b: 1}\nc:\n  <<: *a\n  <<: *a\n", "the key '<<' occurs twice", 4),
    Hostile("json", '{"b": 1,\n "a": 1,\n "a": 2}', "the key 'a' occurs twice", 3),
    Hostile("json, nested", '{"b": [1,\n {"a": 1, "a": 2}]}', "the key 'a' occurs twice", 2),
    Hostile("json, escaped and plain", '{"a": 1,\n "\\u0061": 2}', "the key 'a' occurs twice", 2),
)

TAGGED = (
    Hostile(
        "a call",
        "b: 1\na: !!python/object/apply:os.system ['id']\n",
        "python/object/apply:os.system is not plain YAML",
        2,
    ),
    Hostile("a name", "a: !!python/name:os.system\n", "python/name:os.system is not plain YAML"),
    Hostile("of one's own", "a: !own 1\n", "the tag !own is not plain YAML"),
    Hostile("of one's own on a mapping", "a: !own {b: 1}\n", "the tag !own is not plain YAML"),
    Hostile("of one's own on a list", "a: !own [1]\n", "the tag !own is not plain YAML"),
    Hostile("of one's own on a key", "b: 1\n!own a: 1\n", "the tag !own is not plain YAML", 2),
    Hostile("a call on a key", "!!python/object/apply:os.system a: 1\n", "is not plain YAML"),
    Hostile("a number as a key", "!!int 5: 1\n", "the key '5' is not a text"),
    Hostile("binary", "a: !!binary aGk=\n", "binary is not plain YAML"),
    Hostile("timestamp", "a: !!timestamp 2026-01-03\n", "timestamp is not plain YAML"),
    Hostile("set", "a: !!set {b, c}\n", "set is not plain YAML"),
    Hostile("a tag that does not fit", "a: !!int no\n", "'no' is not a int"),
    Hostile("a text tagged null", "a: !!null no\n", "'no' is not a null"),
)

NOT_A_NUMBER = (
    Hostile("json NaN", '{"b": 1,\n "a": NaN}', "NaN is not a JSON value", 2),
    Hostile("json Infinity", '{"b": 1,\n "a": Infinity}', "Infinity is not a JSON value", 2),
    Hostile("json -Infinity", '{"b": 1,\n "a": [-Infinity]}', "-Infinity is not a JSON value", 2),
    Hostile("json, out of range", '{"b": 1,\n "a": 1e999}', "1e999 is out of range", 2),
    Hostile("json, out of range by both", '{"b": 1,\n "a": ' + "9" * 250 + "e99}", "e99 is out of range", 2),
    Hostile("json, out of range below", '{"b": 1,\n "a": -1E+999}', "-1E+999 is out of range", 2),
    Hostile("yaml .inf", "b: 1\na: .inf\n", ".inf is not a finite number", 2),
    Hostile("yaml -.INF", "a: -.INF\n", "-.INF is not a finite number"),
    Hostile("yaml .nan", "a: [.nan]\n", ".nan is not a finite number"),
    Hostile("yaml, tagged", "a: !!float .inf\n", ".inf is not a finite number"),
    Hostile("yaml, out of range", "b: 1\na: 1e999\n", "1e999 is out of range", 2),
    Hostile("yaml, digits tagged a float", "b: 1\na: !!float 1" + "0" * 400, "is out of range", 2),
    Hostile("yaml, thousands of digits", "b: 1\na: " + "9" * 5_000, "a number of 5,000 digits", 2),
    Hostile("yaml, thousands of decimals", "a: 0." + "9" * 5_000, "a number of 5,002 digits"),
    Hostile("yaml, thousands of digits as a key", "9" * 900 + ": 1", "is not a text"),
    Hostile("yaml, thousands of hexadecimal digits", "b: 1\na: 0x" + "f" * 5_000, "a number of 5,002 digits", 2),
    Hostile("yaml, thousands of octal digits", "a: 0o" + "7" * 9_000, "a number of 9,002 digits"),
    Hostile("json, thousands of digits", '{"b": 1,\n "a": ' + "9" * 5_000 + "}", "a number of 5,000 digits", 2),
    Hostile("json, thousands of decimals", '{"a": 0.' + "9" * 5_000 + "}", "a number of 5,002 digits"),
)

NOT_TEXT = (
    Hostile("json, lone surrogate", '{"b": 1,\n "a": "\\ud800"}', "lone surrogate", 2),
    Hostile("json, lone surrogate in a key", '{"b": 1,\n "a\\udfff": 1}', "lone surrogate", 2),
    Hostile("json, surrogates the wrong way round", '{"a": "\\udc00\\ud800"}', "lone surrogate"),
    Hostile("json, raw lone surrogate", '{"b": 1,\n "a": "\ud800"}', "lone surrogate", 2),
    Hostile("json, raw and escaped", '{"a": "\\n\ud800 \\u0041"}', "lone surrogate"),
    Hostile("yaml, raw lone surrogate", "b: 1\na: \ud800\n", "lone surrogate", 2),
    Hostile("yaml, escaped lone surrogate", 'b: 1\na: "\\ud800"\n', "not valid YAML", 2),
    Hostile("a surrogate in bytes", b"b: 1\na: \xed\xa0\x80\n", "not UTF-8 text at byte 8", 2),
    Hostile("latin-1", "b: 1\na: größe\n".encode("latin-1"), "not UTF-8 text at byte 10", 2),
    Hostile("utf-16", "a: 1\n".encode("utf-16"), "not UTF-8 text at byte 0"),
    Hostile("a broken last character", "a: é".encode()[:-1], "not UTF-8 text at byte 3"),
    Hostile("yaml, a bell", "b: 1\na: x\x07y\n", "control characters are not allowed", 2),
    Hostile("yaml, a null character", b"b: 1\na: x\x00y\n", "control characters are not allowed", 2),
    Hostile("yaml, an escape", "a: \x1b[31m\n", "control characters are not allowed"),
    Hostile("json, a raw line break in a key", '{"b": 1, "a\x01": 1}', "not valid JSON"),
)

NO_CONTRACT = (
    Hostile("nothing", "", "the document is empty", None),
    Hostile("nothing, as bytes", b"", "the document is empty", None),
    Hostile("white space", " \n\t\n", "the document is empty", None),
    Hostile("a byte order mark", b"\xef\xbb\xbf", "the document is empty", None),
    Hostile("comments", "# a\n# b\n", "this is nothing"),
    Hostile("a document mark", "---\n", "this is nothing"),
    Hostile("null", "null\n", "this is nothing"),
    Hostile("a list, yaml", "- a\n- b\n", "this is a list"),
    Hostile("a list, json", '["a"]', "this is a list"),
    Hostile("a text", "orders\n", "this is a text"),
    Hostile("a number", "5\n", "this is the value 5"),
    Hostile("a truth", "true\n", "this is the value True"),
    Hostile("an empty mapping", "{}", "not a contract"),
    Hostile("another mapping", "a: 1\n", "not a contract"),
    Hostile("a second document", "a: 1\n---\nb: 2\n", "a second document starts here", 2),
    Hostile(
        "a second document after the end of the first", "a: 1\n...\n---\nb: 2\n", "a second document starts here", 3
    ),
)

NOT_A_KEY = (
    Hostile("an integer", "a: 1\n1: b\n", "the key '1' is not a text", 2),
    Hostile("a decimal", "1.5: b\n", "the key '1.5' is not a text"),
    Hostile("a truth", "true: b\n", "the key 'true' is not a text"),
    Hostile("null", "~: b\n", "the key '~' is not a text"),
    Hostile("nothing", "?\n: b\n", "the key 'null' is not a text"),
    Hostile("a list", "a: 1\n? [b]\n: c\n", "a key must be a text", 2),
    Hostile("a mapping", "? {b: c}\n: d\n", "a key must be a text"),
    Hostile("an alias", "a: &a b\n*a : c\n", "an alias cannot be a key", 2),
)

NOT_YAML_OR_JSON = (
    Hostile("an open quote", "a: 1\nb: 'c\n", "not valid YAML", 3),
    Hostile("a tab for indentation", "a:\n\tb: 1\n", "not valid YAML", 2),
    Hostile("a mapping in a text", "a: b: c\n", "not valid YAML"),
    Hostile("a list that is not closed", "a: [1, 2\nb: 3\n", "not valid YAML", 2),
    Hostile("wrong indentation", "a:\n  b: 1\n c: 2\n", "not valid YAML", 3),
    Hostile("json without a comma", '{"a": 1\n "b": 2}', "not valid JSON", 2),
    Hostile("json that is cut off", '{"a": 1,\n "b": ', "not valid JSON", 2),
    Hostile("json with more after it", '{"a": 1}\n{"b": 2}', "not valid JSON", 2),
    Hostile("a merge of a text", "a: {<<: b}\n", "<< takes a mapping"),
    Hostile("a merge of texts", "a: {<<: [b]}\n", "<< takes a mapping"),
)

_COSTLY = r"(\p{L}|\p{N}){300}"

STALLING = (
    Hostile("an open text of escaped quotes", '{"' + '\\"' * 50_000, "not valid JSON"),
    Hostile(
        "unknown keys in every field",
        _fields({"name": f"f{n}", "logicalType": "string", "x": 1} for n in range(6_000)),
        "unknown key 'x'",
    ),
    Hostile("unknown keys without end", odcs_json(**{f"key{n}": 1 for n in range(20_000)}), "unknown key 'key0'"),
    Hostile(
        "wrong types without end",
        _fields({"name": f"f{n}", "logicalType": "txt"} for n in range(20_000)),
        "unknown type 'txt'",
    ),
    Hostile(
        "patterns that are costly to compile",
        _fields(
            {"name": "f", "logicalType": "string", "logicalTypeOptions": {"pattern": pattern}}
            for pattern in (*(f"{n}{_COSTLY}" for n in range(300)), "(?=x)")
        ),
        "is invalid",
    ),
    *(
        Hostile(
            f"tag directives without end, ended by {end!a}",
            "".join(f"%TAG !t{n}! x{end}" for n in range(110_000)) + f"---{end}a: 1{end}",
            "",
        )
        for end in ("\n", "\r", "\x85")
    ),
)
"""Small to write, and each once cost (or could cost) minutes to refuse."""

EVERY_ONE: dict[str, tuple[Hostile, ...]] = {
    "nested too deeply": TOO_DEEP,
    "too much": TOO_MUCH,
    "given twice": GIVEN_TWICE,
    "tagged": TAGGED,
    "no number": NOT_A_NUMBER,
    "no text": NOT_TEXT,
    "not a contract": NO_CONTRACT,
    "no key": NOT_A_KEY,
    "neither YAML nor JSON": NOT_YAML_OR_JSON,
}
