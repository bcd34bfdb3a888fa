"""Runs git safely: neither file names nor settings of a repository can make it run other programs."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from treaty.errors import InvalidDocument, NotFound, Unavailable

SAFE_SETTINGS = (
    "core.fsmonitor=false",
    f"core.hooksPath={os.devnull}",
    "core.quotePath=false",
    f"diff.orderFile={os.devnull}",
    "diff.ignoreSubmodules=all",
    "submodule.recurse=false",
    "protocol.ext.allow=never",
)
"""Overrides settings that could run a program or change the output."""

IGNORED_VARIABLES = frozenset(
    {
        "GIT_EXTERNAL_DIFF",
        "GIT_DIFF_OPTS",
        "GIT_LITERAL_PATHSPECS",
        "GIT_GLOB_PATHSPECS",
        "GIT_NOGLOB_PATHSPECS",
        "GIT_ICASE_PATHSPECS",
        "GIT_TRACE",
        "GIT_PAGER",
    }
)


@dataclass(frozen=True)
class GitResult:
    """The exit code and output of git."""

    code: int
    output: bytes
    errors: str

    @property
    def reason(self) -> str:
        """The first error message."""
        lines = [line for line in self.errors.splitlines() if line.strip()]
        message = next((line for line in lines if line.startswith(("fatal:", "error:"))), lines[0] if lines else "")
        return message.removeprefix("fatal:").removeprefix("error:").strip() or f"exit code {self.code}"


@dataclass(frozen=True)
class Git:
    """One repository, by the root of its work tree."""

    root: Path

    def run(self, *arguments: str, given: bytes = b"") -> GitResult:
        """Run git and return its result, also if it fails."""
        return run_git(self.root, arguments, given)

    def text(self, *arguments: str) -> str | None:
        """Run git and return its output as one line, or None if it fails."""
        result = self.run(*arguments)
        return result.output.decode(errors="replace").strip() if result.code == 0 else None

    def require(self, action: str, *arguments: str, given: bytes = b"") -> bytes:
        """Run git and return its output; if it fails, the error names the action."""
        result = self.run(*arguments, given=given)
        if result.code:
            raise Unavailable(f"git could not {action}: {result.reason}")
        return result.output

    def commit(self, reference: str) -> str | None:
        """Return the commit of a reference, or None if there is none."""
        if reference.startswith("-") or not reference.strip() or "\x00" in reference or "\n" in reference:
            raise InvalidDocument(f"{reference[:60]!r} is not a commit; give a branch, a tag or a commit")
        return self.text("rev-parse", "--verify", "--quiet", f"{reference}^{{commit}}")

    @property
    def is_shallow(self) -> bool:
        """Whether the clone is shallow."""
        return self.text("rev-parse", "--is-shallow-repository") == "true"

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        """Start git with pipes for input and output."""
        return subprocess.Popen(  # noqa: S603
            git_command(self.root, arguments), stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=git_environment()
        )


def find_repository(folder: Path) -> Git:
    """Return the repository that contains a folder."""
    result = run_git(folder, ("rev-parse", "--show-toplevel"))
    if result.code == 0 and (root := os.fsdecode(result.output).removesuffix("\n")):
        return Git(Path(root))
    if "dubious ownership" in result.errors:
        raise Unavailable(
            f"git does not trust {folder.resolve()}, which belongs to another user; "
            f"if it is yours: git config --global --add safe.directory {folder.resolve()}"
        )
    if "work tree" in result.errors:
        raise NotFound(f"{folder.resolve()} is in a repository without a working tree; run the check in a clone")
    raise NotFound(
        f"{folder.resolve()} is not in a git repository; run the command in one, "
        "or compare two files with: treaty diff OLD NEW"
    )


def run_git(folder: Path, arguments: Sequence[str], given: bytes = b"") -> GitResult:
    """Run git in a folder."""
    try:
        result = subprocess.run(  # noqa: S603
            git_command(folder, arguments), input=given, capture_output=True, check=False, env=git_environment()
        )
    except FileNotFoundError:
        raise Unavailable("git is not installed or not on the PATH") from None
    return GitResult(result.returncode, result.stdout, result.stderr.decode(errors="replace"))


def git_command(folder: Path, arguments: Sequence[str]) -> list[str]:
    """Return the command line for git with safe settings."""
    settings = [part for setting in SAFE_SETTINGS for part in ("-c", setting)]
    return ["git", "-C", str(folder), "--no-pager", *settings, *arguments]


def git_environment() -> dict[str, str]:
    """Return the environment for git: no prompts, no locks for reading, messages in English."""
    variables = {name: value for name, value in os.environ.items() if name not in IGNORED_VARIABLES}
    return variables | {"GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
