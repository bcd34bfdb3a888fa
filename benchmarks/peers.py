"""Peers, each in an environment of its own, installed once."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

HOME = Path(__file__).parents[1]
WORK = HOME / ".bench"


def peer_binary(name: str, requirement: str, binary: str) -> str:
    """Return a peer's program; the first time, it is installed."""
    home = WORK / name
    program = home / "bin" / binary
    if not program.exists():
        uv = shutil.which("uv") or str(HOME / ".uv" / "bin" / "uv")
        python = str(home / "bin" / "python")
        subprocess.run([uv, "venv", "--quiet", "--python", sys.executable, str(home)], check=True)
        subprocess.run([uv, "pip", "install", "--quiet", "--python", python, requirement], check=True)
        subprocess.run([python, "-m", "compileall", "-q", str(home / "lib")], check=False)
    return str(program)
