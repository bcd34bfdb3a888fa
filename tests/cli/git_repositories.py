"""Temporary git repositories: an upstream, its clones and forks."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.review.branch_builder import content

_PLAIN = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_AUTHOR_NAME": "tests",
    "GIT_AUTHOR_EMAIL": "tests@example.com",
    "GIT_AUTHOR_DATE": "2026-01-01T00:00:00Z",
    "GIT_COMMITTER_NAME": "tests",
    "GIT_COMMITTER_EMAIL": "tests@example.com",
    "GIT_COMMITTER_DATE": "2026-01-01T00:00:00Z",
}


@dataclass(frozen=True)
class Repository:
    """A repository with a work tree."""

    folder: Path

    def git(self, *arguments: str) -> str:
        """Run git, and return what it says."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        done = subprocess.run(
            ["git", "-c", "protocol.file.allow=always", *arguments],
            cwd=self.folder,
            env={**kept, **_PLAIN},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def write(self, files: Mapping[str, Any]) -> None:
        """Put files into the work tree; None takes one away."""
        for name, case in files.items():
            path = self.folder / name
            if case is None:
                path.unlink()
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content(case))

    def commit(self, files: Mapping[str, Any], message: str = "a change") -> str:
        """Commit files, and return the commit."""
        self.write(files)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", message)
        return self.git("rev-parse", "HEAD")

    def branch(self, name: str, start: str = "HEAD") -> None:
        """Go to a new branch."""
        self.git("checkout", "--quiet", "-b", name, start)

    def copy(self, folder: Path) -> Repository:
        """Copy it with all that is in it."""
        shutil.copytree(self.folder, folder, symlinks=True)
        return Repository(folder)

    def clone(self, folder: Path, *options: str) -> Repository:
        """Clone it as a server would hand it out."""
        folder.parent.mkdir(parents=True, exist_ok=True)
        Repository(folder.parent).git("clone", "--quiet", *options, self.folder.as_uri(), str(folder))
        return Repository(folder)


def made(folder: Path, files: Mapping[str, Any]) -> Repository:
    """Make a repository whose main branch has files."""
    folder.mkdir(parents=True, exist_ok=True)
    repository = Repository(folder)
    repository.git("init", "--quiet", "--initial-branch", "main")
    repository.commit(files, "first")
    return repository
