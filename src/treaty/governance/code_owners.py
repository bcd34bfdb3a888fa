"""Owners of files, as a CODEOWNERS file states them."""

from __future__ import annotations

import re
from dataclasses import dataclass

CODE_OWNERS_FILES = ("CODEOWNERS", ".github/CODEOWNERS", ".gitlab/CODEOWNERS", "docs/CODEOWNERS")
"""Where code hosts look for the file, in the order of precedence."""
MAX_PATTERN_LENGTH = 300
MAX_WILDCARDS = 8
"""Patterns with more wildcards are ignored: they could take long to match."""
_WILDCARD = re.compile(r"\*\*/?|\*|\?")


@dataclass(frozen=True)
class OwnerRule:
    """A pattern of paths, and who owns them; without owners, the paths have none."""

    pattern: str
    owners: tuple[str, ...]

    def covers(self, path: str) -> bool:
        """Whether the pattern matches a path relative to the repository."""
        return _compile(self.pattern).fullmatch(path) is not None


def parse_code_owners(text: str) -> tuple[OwnerRule, ...]:
    """Parse the rules of a CODEOWNERS file; sections, comments and patterns that are too long are left out."""
    rules = []
    for line in text.splitlines():
        pattern, *owners = line.partition("#")[0].split() or [""]
        is_rule = pattern and not pattern.startswith(("[", "^[", "!"))
        if is_rule and len(pattern) <= MAX_PATTERN_LENGTH and len(_WILDCARD.findall(pattern)) <= MAX_WILDCARDS:
            rules.append(OwnerRule(pattern, tuple(owners)))
    return tuple(rules)


def find_owner(rules: tuple[OwnerRule, ...], path: str) -> str | None:
    """Return the first owner of a path by the last rule that covers it."""
    rule = next((rule for rule in reversed(rules) if rule.covers(path)), None)
    return rule.owners[0] if rule and rule.owners else None


def team_name(owner: str) -> str:
    """Return the name of an owner as a team: @acme/checkout → checkout."""
    return owner.removeprefix("@").rpartition("/")[2] or owner


def _compile(pattern: str) -> re.Pattern[str]:
    is_anchored = "/" in pattern.rstrip("/")
    is_folder = pattern.endswith("/")
    body = "".join(_translate(part) for part in re.split(r"(\*\*/?|\*|\?)", pattern.strip("/")))
    last = pattern.rstrip("/").rpartition("/")[2]
    ending = "/.*" if is_folder else "" if "*" in last and last != "**" and "/" in pattern else "(?:/.*)?"
    return re.compile(("" if is_anchored else "(?:.*/)?") + body + ending)


def _translate(part: str) -> str:
    return {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}.get(part, re.escape(part))
