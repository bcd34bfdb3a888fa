"""Runs the steps of an action or the script of a job with the variables of GitHub or GitLab."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
_NAME = re.compile(r"\b(?:inputs|github|steps)(?:\.[\w-]+)+")
_EXPRESSION = re.compile(r"\$\{\{(.*?)\}\}")


@dataclass
class Ran:
    """How a job ended: the code of its last step, what it printed, and what its steps gave."""

    code: int
    output: str
    outputs: dict[str, dict[str, str]]
    names: list[str] = field(default_factory=list)


def environment(more: Mapping[str, str]) -> dict[str, str]:
    """Return an environment with the `treaty` of these tests and nothing of whoever runs them."""
    return {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "HOME": "/nonexistent",
        "NO_COLOR": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_SYSTEM": os.devnull,
        **more,
    }


def run_action(
    work: Path, folder: Path, inputs: Mapping[str, str], github: Mapping[str, Any], env: Mapping[str, str]
) -> Ran:
    """Run the action's own steps as a runner does; what it uses of others, and the install, are set up here."""
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    given = {name: one.get("default", "") for name, one in action["inputs"].items()} | dict(inputs)
    context: dict[str, Any] = {"inputs": given, "github": dict(github), "steps": {}}
    ran = Ran(0, "", {})
    for number, step in enumerate(action["runs"]["steps"]):
        if "run" not in step or step["name"] == "Install" or not _value(step.get("if", "true"), context):
            continue
        told, summary = work / f"output-{number}", work / "summary"
        told.touch()
        own = {name: _filled(value, context) for name, value in step.get("env", {}).items()}
        runner = {"GITHUB_OUTPUT": str(told), "GITHUB_STEP_SUMMARY": str(summary), "RUNNER_TEMP": str(work)}
        done = _bash(step["run"], folder, environment({**env, **runner, **own}))
        ran.names.append(step["name"])
        ran.output += done.stdout + done.stderr
        outputs = dict(line.split("=", 1) for line in told.read_text().splitlines())
        context["steps"][step.get("id", str(number))] = {"outputs": outputs}
        ran.outputs[step.get("id", str(number))] = outputs
        ran.code = done.returncode
        if done.returncode:
            break
    return ran


def run_job(name: str, folder: Path, env: Mapping[str, str]) -> Ran:
    """Run the script of a job of the GitLab template, as a GitLab runner does."""
    template = yaml.safe_load((ROOT / "templates" / "treaty.yml").read_text())
    done = _bash("\n".join(template[name]["script"]), folder, environment(env))
    return Ran(done.returncode, done.stdout + done.stderr, {})


def _bash(script: str, folder: Path, env: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script],
        cwd=folder,
        env=dict(env),
        capture_output=True,
        text=True,
        check=False,
    )


def _filled(text: str, context: dict[str, Any]) -> str:
    def value(match: re.Match[str]) -> str:
        found = _value(match[1], context)
        return str(found).lower() if isinstance(found, bool) else str(found or "")

    return _EXPRESSION.sub(value, str(text))


def _value(expression: str, context: dict[str, Any]) -> Any:
    """Work out the few kinds of expressions that the action has."""
    python = _NAME.sub(lambda found: f"at({found[0]!r})", expression.strip())
    python = python.replace("||", " or ").replace("&&", " and ").replace("startsWith", "starts")
    names = {"at": lambda path: _at(context, path), "starts": lambda text, head: text.startswith(head), "true": True}
    return eval(python, {"__builtins__": {}}, names)  # noqa: S307 - the action's own words


def _at(context: Any, path: str) -> Any:
    for part in path.split("."):
        context = context.get(part, "") if isinstance(context, dict) else ""
    return context
