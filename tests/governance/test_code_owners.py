"""CODEOWNERS: the last rule that covers a path names its owner."""

from __future__ import annotations

import pytest

from treaty.governance.code_owners import MAX_WILDCARDS, find_owner, parse_code_owners, team_name

RULES = """\
# who owns what
*               @acme/everyone
*.sql           @acme/warehouse   # in every folder
/products/      @acme/data @someone
products/open/
docs/*          @acme/writers
apps/**/models  @acme/modelling
[Section]
"""


@pytest.mark.parametrize(
    ("path", "owner"),
    [
        ("README.md", "@acme/everyone"),
        ("deep/in/there.sql", "@acme/warehouse"),
        ("products/orders/product.yaml", "@acme/data"),
        ("other/products/product.yaml", "@acme/everyone"),
        ("products/open/product.yaml", None),
        ("docs/a.md", "@acme/writers"),
        ("docs/deep/a.md", "@acme/everyone"),
        ("apps/models/a.yaml", "@acme/modelling"),
        ("apps/a/b/models/c.yaml", "@acme/modelling"),
    ],
)
def test_the_last_rule_that_covers_a_path_names_its_owner(path: str, owner: str | None) -> None:
    assert find_owner(parse_code_owners(RULES), path) == owner


def test_a_pattern_that_could_take_long_is_ignored() -> None:
    assert parse_code_owners("a*" * (MAX_WILDCARDS + 1) + " @acme/x\n" + "y" * 400 + " @acme/y") == ()


def test_a_team_is_named_without_its_organisation() -> None:
    assert [team_name(owner) for owner in ("@acme/data", "@ada", "ops@example.com")] == [
        "data",
        "ada",
        "ops@example.com",
    ]
