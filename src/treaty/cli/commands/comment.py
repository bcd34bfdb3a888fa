"""`treaty comment`: say a review on the pull request, once, and keep it up to date."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer


def run(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="What treaty check --save markdown=FILE wrote.")],
) -> None:
    """Comment on a pull or merge request, once.

    For CI: says a review on the request that a job runs for, on GitHub or GitLab. An earlier comment is updated. Needs
    GITHUB_TOKEN or TREATY_GITLAB_TOKEN.
    """
    from treaty.cli.pull_request_comments import comment, host_from
    from treaty.cli.render.review.markdown import MARKER
    from treaty.errors import InvalidDocument, NotFound

    try:
        body = file.read_text(encoding="utf-8")
    except OSError as error:
        raise NotFound(
            f"cannot read {file}: {error.strerror}; write it with: treaty check --save markdown=FILE"
        ) from None
    except UnicodeDecodeError:
        raise InvalidDocument(f"{file} is no text; write it with: treaty check --save markdown=FILE") from None
    if not body.startswith(MARKER):
        raise InvalidDocument(f"{file} is no review; write it with: treaty check --save markdown=FILE")
    typer.echo(f"comment {comment(host_from(os.environ), body).value}")
