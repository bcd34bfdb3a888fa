"""Text from documents is escaped on terminals and in reports."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from tests.cli.conftest import Treaty, Write
from treaty.cli.render.markdown import code, escape_markdown
from treaty.cli.render.plain_text import printable

ESCAPE = "x\x1b[31mRED\x1b]0;pwned\x07"
HOSTILE: dict[str, Any] = {
    "id": ESCAPE,
    "version": "1.0.0\n::error::pwned",
    "fields": [{"name": f"a{ESCAPE}\nb\u202e", "logicalType": "string"}],
}


@pytest.mark.parametrize("output", ["text", "markdown"])
def test_lint_prints_control_characters_as_text(treaty: Treaty, write: Write, output: str) -> None:
    printed = treaty("lint", "--format", output, write("hostile.yaml", HOSTILE)).output

    assert not any(sign in printed for sign in ("\x1b", "\x07", "\u202e", "\n::error"))
    assert "\\x1b" in printed.replace("\\\\", "\\")


@pytest.mark.parametrize("output", ["text", "markdown"])
def test_diff_prints_control_characters_as_text(treaty: Treaty, write: Write, output: str) -> None:
    after = {**HOSTILE, "version": "2.0.0\n\n# Approved <img src=x>", "fields": []}

    printed = treaty("diff", "--format", output, write("a.yaml", HOSTILE), write("b.yaml", after)).output

    assert not any(sign in printed for sign in ("\x1b", "\x07", "\u202e", "\n# Approved", "\n::error"))


def test_a_registry_prints_control_characters_as_text(treaty: Treaty, write: Write) -> None:
    field = {"name": "a", "logicalType": "string", "description": ESCAPE.replace("\x1b", "\u200b")}
    assert treaty("register", write("orders.yaml", {"fields": [field]})).code == 0
    said = ("--purpose", ESCAPE, "--contact", "#a\u202e\nb")

    printed = treaty("consumer", "subscribe", "ledger", "orders@1", "--class", "exploratory_analytics", *said).output
    for command in (
        ("show", "orders"),
        (
            "consumer",
            "list",
        ),
        (
            "admin",
            "notices",
        ),
        ("admin", "audit", "list"),
        ("search",),
    ):
        printed += treaty(*command).output
    printed += treaty("show", f"{ESCAPE}@1").errors

    assert not any(sign in printed for sign in ("\x1b", "\x07", "\u202e", "\u200b", "\nb"))
    assert "\\x1b" in printed


def test_errors_print_control_characters_as_text(treaty: Treaty, write: Write) -> None:
    result = treaty("diff", write("a.yaml", f'"{ESCAPE!s}": 1'.replace("\x1b", "\\e").replace("\x07", "\\a")), "a.yaml")

    assert result.code == 3
    assert "\x1b" not in result.errors


@pytest.mark.parametrize(
    "text",
    [
        "[link](http://example.com)",
        "![image](x)",
        "**bold**",
        "`code`",
        "<b>",
        "@team",
        "a | b",
        "# title",
        "new\nline",
    ],
)
def test_markdown_of_a_text_is_no_markup(text: str) -> None:
    assert not re.search(r"(?<!\\)[\[\]!*`|#]|[<>@\n]", escape_markdown(text).replace("&#64;", ""))
    assert "\n" not in code(text)
    assert code(text).count("`") == 2


def test_an_endless_text_is_shortened() -> None:
    assert len(printable("a" * 100_000)) < 3_000


@pytest.mark.parametrize(
    ("source", "uri"),
    [
        ("contracts/orders.yaml", "contracts/orders.yaml"),
        ("a b/ü%.yaml", "a%20b/%C3%BC%25.yaml"),
        ("git:main:contracts/orders.yaml", "contracts/orders.yaml"),
        ("/data/orders.yaml", "file:///data/orders.yaml"),
    ],
)
def test_sarif_names_sources_by_valid_addresses(source: str, uri: str) -> None:
    from treaty.cli.render.sarif import sarif
    from treaty.contracts import Finding, Place, Severity

    log = sarif([Finding("a", Severity.ERROR, "b", place=Place(source, 1))], {})

    location = json.loads(json.dumps(log))["runs"][0]["results"][0]["locations"][0]["physicalLocation"]
    assert location["artifactLocation"]["uri"] == uri
