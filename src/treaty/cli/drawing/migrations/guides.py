"""Drawing the guide of one consumer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from treaty.cli.drawing.console import text
from treaty.cli.drawing.grids import facts, listing
from treaty.consumers.guide import Guide
from treaty.consumers.impact import Effect

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console

_STYLES = {Effect.HIT: "error", Effect.UNKNOWN: "warning", Effect.SAFE: "good"}


def draw_guide(drawn: Console, guide: Guide) -> None:
    """Draw what one consumer has to do: its fields before and after, and the query it can run."""
    title = text(f"Guide for {guide.consumer}", style="path")
    title.append_text(text(f"  {guide.before} → {guide.after or 'the new version'}", style="accent"))
    title.append_text(text(f"  {verdict(guide)}", style=_STYLES[guide.effect]))
    drawn.print(title)
    drawn.print(facts([(name, said) for name, said in told(guide)]))
    if guide.fields:
        rows = [
            (text(f"  {one.before}"), text(one.type_before), text(one.after_text), text("; ".join(one.todo)))
            for one in guide.fields
        ]
        drawn.print(listing(("  before", "", "after", "what to do"), rows))
    for one in guide.examples if guide.fields else ():
        drawn.print(text("  the same from the new line:", style="quiet"))
        for line in one.sql_after.split("\n"):
            drawn.print(text(f"    {line}"), soft_wrap=True)


def verdict(guide: Guide) -> str:
    """Say in a few words what the change means for a consumer."""
    if not guide.subscription.fields_known:
        return "it never said which fields it reads: all of them are listed"
    if not guide.fields:
        return "its fields stay as they are: only the line has a new name"
    asked, read = len(guide.fields), len(guide.fields) + len(guide.unchanged)
    if asked == read:
        return "its field asks for a change" if read == 1 else f"all {read} of its fields ask for a change"
    return f"{asked} of its {read} fields {'asks' if asked == 1 else 'ask'} for a change"


def told(guide: Guide) -> Iterator[tuple[str, str]]:
    """Yield what else a guide says, by name."""
    if guide.by:
        yield "by", f"{guide.by}, when the window of {guide.window} ends"
    elif guide.window:
        yield "within", f"{guide.window} from the day the new line is registered"
    if guide.owner:
        yield "ask", guide.owner
    if guide.link:
        yield "read", guide.link
    if guide.unchanged:
        yield "as before", ", ".join(guide.unchanged)
    if guide.not_there:
        yield "unknown", f"{', '.join(guide.not_there)}: the old line has no such field"
    for said in guide.also:
        yield "also", said
