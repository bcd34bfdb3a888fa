"""Peers, each in an environment of its own, installed once."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

HOME = Path(__file__).parents[1]
WORK = HOME / ".bench"


def peer_binary(name: str, requirement: str, binary: str) -> str:
    """Return a peer's program; the first time, what it requires is installed."""
    home = WORK / name
    ready = home / "ready"
    if not ready.exists():
        uv = shutil.which("uv") or str(HOME / ".uv" / "bin" / "uv")
        python = str(home / "bin" / "python")
        subprocess.run([uv, "venv", "--quiet", "--clear", "--python", sys.executable, str(home)], check=True)
        subprocess.run([uv, "pip", "install", "--quiet", "--python", python, *requirement.split()], check=True)
        subprocess.run([python, "-m", "compileall", "-q", str(home / "lib")], check=False)
        ready.touch()
    return str(home / "bin" / binary)
