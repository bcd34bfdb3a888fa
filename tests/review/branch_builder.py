"""Branches for tests: files before, files after, and files that did not change."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from datetime import date
from typing import Any

from tests.documents import document
from treaty.compatibility import Grading, parse_mode
from treaty.contracts.text import Limits
from treaty.contracts.text.writer import write_yaml
from treaty.governance.lint import LintSettings, parse_lint_settings
from treaty.review import Branch, File, FileChange, RegistryGateway, Review, Rules, review

TODAY = date(2026, 3, 1)
LINT_OFF = LintSettings()


def content(case: Any) -> bytes:
    """Return a file: a text as it is, a list or mapping as the contract it stands for."""
    if isinstance(case, str):
        return case.encode()
    if isinstance(case, Mapping) and "subscriptions" in case:
        return write_yaml(dict(case)).encode()
    return write_yaml(document(case)).encode()


def branch(before: Mapping[str, Any], after: Mapping[str, Any], moved: Mapping[str, str] | None = None) -> Branch:
    """Return a branch: files that are the same on both sides are untouched, `moved` says what git found moved."""
    old = {path: content(case) for path, case in before.items()}
    new = {path: content(case) for path, case in after.items()}
    came = dict(moved or {})
    touched = [
        FileChange(_file(old, came.get(path, path), "base"), _file(new, path))
        for path in sorted(new)
        if old.get(path) != new[path]
    ]
    gone = old.keys() - new.keys() - set(came.values())
    touched += [FileChange(_file(old, path, "base"), None) for path in sorted(gone)]
    still = {path: text for path, text in new.items() if old.get(path) == text}

    def mentioning(words: Collection[str]) -> list[File]:
        return [File(path, text) for path, text in still.items() if any(word.encode() in text for word in words)]

    return Branch("main", "0" * 40, tuple(touched), mentioning)


def rules(waivers: Collection[Any] = (), lint: Mapping[str, Any] | None = None, mode: str = "backward") -> Rules:
    """Return the rules of a project."""
    return Rules(parse_mode(mode), Grading(), parse_lint_settings(lint or {}, waivers), Limits(), TODAY)


def reviewed(
    before: Mapping[str, Any],
    after: Mapping[str, Any],
    *,
    moved: Mapping[str, str] | None = None,
    registry: RegistryGateway | None = None,
    project: Rules | None = None,
) -> Review:
    """Review a branch that is written down."""
    return review(branch(before, after, moved), project or rules(), registry)


def _file(files: Mapping[str, bytes], path: str, revision: str | None = None) -> File | None:
    return File(path, files[path], revision) if path in files else None


def as_json(case: Any) -> str:
    """Return a contract as JSON text."""
    return json.dumps(document(case))
