"""The git executable, asked so that neither names nor settings of a repository can make it do anything else."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from treaty.errors import InvalidDocument, NotFound, Unavailable

_SETTINGS = (
    "core.fsmonitor=false",
    f"core.hooksPath={os.devnull}",
    "core.quotePath=false",
    f"diff.orderFile={os.devnull}",
    "diff.ignoreSubmodules=all",
    "submodule.recurse=false",
    "protocol.ext.allow=never",
)
"""Settings that could run a program, or change an answer, are set aside."""

_LEFT_OUT = frozenset(
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
class Answer:
    """How git ended, and what it said."""

    code: int
    output: bytes
    errors: str

    @property
    def reason(self) -> str:
        """The first line that says what is wrong."""
        lines = [line for line in self.errors.splitlines() if line.strip()]
        told = next((line for line in lines if line.startswith(("fatal:", "error:"))), lines[0] if lines else "")
        return told.removeprefix("fatal:").removeprefix("error:").strip() or f"it ended with {self.code}"


@dataclass(frozen=True)
class Git:
    """One repository, by the root of its work tree."""

    root: Path

    def ask(self, *arguments: str, given: bytes = b"") -> Answer:
        """Run git, whatever it says."""
        return ask(self.root, arguments, given)

    def text(self, *arguments: str) -> str | None:
        """Return one line that git says, or None where it says no."""
        said = self.ask(*arguments)
        return said.output.decode(errors="replace").strip() if said.code == 0 else None

    def need(self, what: str, *arguments: str, given: bytes = b"") -> bytes:
        """Run git and return what it says; where it cannot, `what` could not be done."""
        said = self.ask(*arguments, given=given)
        if said.code:
            raise Unavailable(f"git could not {what}: {said.reason}")
        return said.output

    def commit(self, reference: str) -> str | None:
        """Return the commit that a name stands for, or None where nothing is called so."""
        if reference.startswith("-") or not reference.strip() or "\x00" in reference or "\n" in reference:
            raise InvalidDocument(f"{reference[:60]!r} is no name of a commit; write a branch, a tag or a commit")
        return self.text("rev-parse", "--verify", "--quiet", f"{reference}^{{commit}}")

    @property
    def is_shallow(self) -> bool:
        """Whether the history was cut off when it was fetched."""
        return self.text("rev-parse", "--is-shallow-repository") == "true"

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        """Start git to talk with it."""
        return subprocess.Popen(  # noqa: S603
            command(self.root, arguments), stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment()
        )


def repository(folder: Path) -> Git:
    """Return the repository that a folder is in."""
    said = ask(folder, ("rev-parse", "--show-toplevel"))
    if said.code == 0 and (root := os.fsdecode(said.output).removesuffix("\n")):
        return Git(Path(root))
    if "dubious ownership" in said.errors:
        raise Unavailable(
            f"git does not trust {folder.resolve()}, which belongs to somebody else; "
            f"if it is yours: git config --global --add safe.directory {folder.resolve()}"
        )
    if "work tree" in said.errors:
        raise NotFound(f"{folder.resolve()} is in a repository without a work tree; check a branch in a clone of it")
    raise NotFound(f"{folder.resolve()} is in no git repository; a check compares a branch with its base")


def ask(folder: Path, arguments: Sequence[str], given: bytes = b"") -> Answer:
    """Run git in a folder."""
    try:
        done = subprocess.run(  # noqa: S603
            command(folder, arguments), input=given, capture_output=True, check=False, env=environment()
        )
    except FileNotFoundError:
        raise Unavailable("git is not installed, or not on the PATH; a check needs it") from None
    return Answer(done.returncode, done.stdout, done.stderr.decode(errors="replace"))


def command(folder: Path, arguments: Sequence[str]) -> list[str]:
    """Return a command of git with its settings."""
    settings = [part for setting in _SETTINGS for part in ("-c", setting)]
    return ["git", "-C", str(folder), "--no-pager", *settings, *arguments]


def environment() -> dict[str, str]:
    """Return the environment for git: it asks nobody, locks nothing that it only reads, and speaks English."""
    kept = {name: value for name, value in os.environ.items() if name not in _LEFT_OUT}
    return kept | {"GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
